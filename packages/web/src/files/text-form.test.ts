import { expect, test } from "vitest";
import { fieldText, fileText, formOf } from "./text-form.ts";

test.each(["", "one", "one\ntwo\n", "one\r\ntwo\r\n", "\ufeffone\r\n\r\n", "\ufeff"])(
  "a text that nobody edited is saved as it was: %j",
  (text) => {
    const form = formOf(text);
    if (!form) throw new Error("The form is not known.");
    const field = fieldText(text, form);
    expect(field).not.toMatch(/[\r\ufeff]/);
    expect(fileText(field, form)).toBe(text);
  },
);

test.each(["one\r\ntwo\n", "one\rtwo", "one\r\r\n"])(
  "line ends of several kinds are not edited: %j",
  (text) => {
    expect(formOf(text)).toBeUndefined();
  },
);
