/** The path of a request. Loads no schemas. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** `/threads/:thread_id` with its names filled in, each one part of the path and no more. */
export function fillPath(path: string, parameters: Readonly<Record<string, string>>): string {
  return path.replace(/:([a-z_]+)/g, (_, name: string) => {
    const value = parameters[name];
    if (!value) throw new TypeError(`The path ${path} needs '${name}'.`);
    if (value === "." || value === "..") throw new TypeError(`'${value}' cannot be a part of a path.`);
    return encodeURIComponent(value);
  });
}
