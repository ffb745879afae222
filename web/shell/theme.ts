import { useEffect } from "react";
import { usePrefs } from "../state/prefs.js";

/** A theme is a value of color-scheme; the tokens follow. */
export function useTheme(): void {
  const theme = usePrefs((prefs) => prefs.theme);
  const density = usePrefs((prefs) => prefs.density);
  useEffect(() => {
    const { dataset } = document.documentElement;
    if (theme === "system") delete dataset.theme;
    else dataset.theme = theme;
    dataset.density = density;
  }, [theme, density]);
}
