import { useState } from "react";
import { openOverlay } from "../../shell/overlays.js";
import { usePrefs } from "../../state/prefs.js";
import { Button } from "../../ui/button.js";
import { Choice, Line, Part, Switch } from "./part.js";

const THEMES = [
  ["system", "System"],
  ["light", "Light"],
  ["dark", "Dark"],
] as const;
const DENSITIES = [
  ["normal", "Compact"],
  ["roomy", "Roomy"],
] as const;

/** What this browser shows and how. It holds in all of its windows. */
export function LookPart() {
  const { theme, density, singleKeys, brief } = usePrefs();
  return (
    <Part id="look" title="Look and keys">
      <Line label="Theme">
        <Choice
          label="Theme"
          value={theme}
          of={THEMES}
          onChoose={(each) => usePrefs.setState({ theme: each })}
        />
      </Line>
      <Line label="Density" hint="How much room rows and text take.">
        <Choice
          label="Density"
          value={density}
          of={DENSITIES}
          onChoose={(each) => usePrefs.setState({ density: each })}
        />
      </Line>
      <Line label="Single keys" hint="C for a new thread and the like, outside of text fields.">
        <Button small kind="quiet" keys="?" onClick={() => openOverlay({ kind: "keys" })}>
          Show keys
        </Button>
        <Switch
          label="Single keys"
          on={singleKeys}
          onSwitch={(on) => usePrefs.setState({ singleKeys: on })}
        />
      </Line>
      <Notifications />
      <Line label="Brief answers" hint="Asks for short answers: it goes along with each message.">
        <Switch label="Brief answers" on={brief} onSwitch={(on) => usePrefs.setState({ brief: on })} />
      </Line>
    </Part>
  );
}

/** The browser has the last word: what it refused can only be allowed there. */
function Notifications() {
  const notify = usePrefs((prefs) => prefs.notify);
  const [permission, setPermission] = useState(() =>
    "Notification" in window ? Notification.permission : "denied",
  );
  const refused =
    permission === "denied" ? "The browser does not allow notifications of this page." : undefined;
  const change = async (on: boolean) => {
    if (!on) return usePrefs.setState({ notify: "off" });
    const given = await Notification.requestPermission();
    setPermission(given);
    usePrefs.setState({ notify: given === "granted" ? "on" : "off" });
  };
  return (
    <Line
      label="Notifications"
      hint={refused ?? "When a run ends or waits for you, and this page is not in front."}
    >
      <Switch
        label="Notifications"
        on={notify === "on" && permission === "granted"}
        off={refused}
        onSwitch={(on) => void change(on)}
      />
    </Line>
  );
}
