import { useQuery } from "@tanstack/react-query";
import { call } from "../../state/gateway.js";
import { Line, Part } from "./part.js";

export function AboutPart() {
  const { data } = useQuery({ queryKey: ["hello"], queryFn: () => call("ping", {}) });
  return (
    <Part id="about" title="About">
      <Line label="Heddle">
        <span className="num ink-2">{data ? data.server.version : ""}</span>
      </Line>
      <Line label="Protocol">
        <span className="num ink-2">{data ? data.protocol_version : ""}</span>
      </Line>
      <Line label="Gateway" hint="Everything on this page comes from there.">
        <span className="mono ink-2">{location.origin}</span>
      </Line>
    </Part>
  );
}
