import fc from "fast-check";
import { expect, test } from "vitest";
import { Folders, formatFolderPath, parseFolderPath } from "./folder-path.js";

test("[CLI40] paths are read as documented", () => {
  expect(parseFolderPath("/")).toEqual([]);
  expect(parseFolderPath("")).toEqual([]);
  expect(parseFolderPath("Backend/Payments")).toEqual(["Backend", "Payments"]);
  expect(parseFolderPath("/Backend//Payments/")).toEqual(["Backend", "Payments"]);
  expect(parseFolderPath("In\\/Out/x")).toEqual(["In/Out", "x"]);
  expect(parseFolderPath("a\\\\/b")).toEqual(["a\\", "b"]);
  expect(parseFolderPath("C:\\temp")).toEqual(["C:\\temp"]);
  expect(formatFolderPath([])).toBe("/");
  expect(formatFolderPath(["In/Out", "C:\\temp"])).toBe("In\\/Out/C:\\temp");
});

test("[CLI40] writing a path and reading it gives the same names", () => {
  const name = fc.string({ unit: fc.constantFrom("a", "/", "\\", " ", "é"), minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(fc.array(name, { maxLength: 5 }), (names) => {
      expect(parseFolderPath(formatFolderPath(names))).toEqual(names);
    }),
    { numRuns: 1_000 },
  );
});

test("[CLI41] an id is taken before a path", () => {
  const folder = (id: string, name: string) => ({
    id,
    workspace_id: "ws_1",
    name,
    rank: 0,
    created_at: 0,
    updated_at: 0,
  });
  const folders = new Folders([folder("fld_1", "fld_2"), folder("fld_2", "other")]);
  expect(folders.find("fld_2")?.name).toBe("other");
  expect(folders.find("fld_1")?.name).toBe("fld_2");
  expect(folders.find("other")?.id).toBe("fld_2");
});
