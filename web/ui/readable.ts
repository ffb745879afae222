/** The darkest surface of the light theme and the lightest of the dark one, as luminances: text is read on these too. */
const LIGHT_GROUND = 0.79;
const DARK_GROUND = 0.028;
/** AA, and what rounding may take of it. */
const CONTRAST = 4.6;
const MOST = (LIGHT_GROUND + 0.05) / CONTRAST - 0.05;
const LEAST = (DARK_GROUND + 0.05) * CONTRAST - 0.05;

type Three = readonly [number, number, number];

const known = new Map<string, string | undefined>();

/** A colour that text can wear in both themes: of the same hue, as dark or light as it has to be. Undefined: it is none. */
export function readable(color: string): string | undefined {
  if (!known.has(color)) known.set(color, made(color));
  return known.get(color);
}

function made(color: string): string | undefined {
  if (!CSS.supports("color", color)) return undefined;
  const rgb = channels(color);
  if (!rgb) return undefined;
  const dark = luminance(rgb) > MOST ? atLuminance(rgb, MOST) : rgb;
  const light = luminance(rgb) < LEAST ? atLuminance(rgb, LEAST) : rgb;
  return `light-dark(rgb(${dark.join(" ")}), rgb(${light.join(" ")}))`;
}

/** As the browser understands it, whatever it is called. */
function channels(color: string): Three | undefined {
  const canvas = document.createElement("canvas").getContext("2d");
  if (!canvas) return undefined;
  canvas.fillStyle = color;
  const hex = /^#(..)(..)(..)$/.exec(canvas.fillStyle);
  return hex ? (hex.slice(1).map((each) => Number.parseInt(each, 16)) as unknown as Three) : undefined;
}

function luminance(rgb: Three): number {
  const [r, g, b] = rgb.map((each) => {
    const part = each / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as unknown as Three;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

const HALVINGS = 16;

/** Towards black or white as far as it takes: its hue stays. */
function atLuminance(rgb: Three, wanted: number): Three {
  const end = luminance(rgb) > wanted ? 0 : 255;
  const mixed = (share: number) =>
    rgb.map((each) => Math.round(each + (end - each) * share)) as unknown as Three;
  let [near, far] = [0, 1];
  for (let step = 0; step < HALVINGS; step++) {
    const middle = (near + far) / 2;
    const isEnough = end === 0 ? luminance(mixed(middle)) <= wanted : luminance(mixed(middle)) >= wanted;
    if (isEnough) far = middle;
    else near = middle;
  }
  return mixed(far);
}
