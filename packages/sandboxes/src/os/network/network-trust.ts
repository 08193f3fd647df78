/** Certificate authorities that programs in a sandbox trust. */
import { readFile } from "node:fs/promises";
import { rootCertificates } from "node:tls";

/** Where distributions keep them, all in one file. */
const BUNDLES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/** Authorities of this machine and one more, as PEM; those of Node where the machine has none. */
export async function trustBundle(certificate: string): Promise<string> {
  for (const path of BUNDLES) {
    const bundle = await readFile(path, "utf8").catch(() => "");
    if (bundle.includes("BEGIN CERTIFICATE")) return `${bundle.trimEnd()}\n${certificate}`;
  }
  return `${rootCertificates.join("\n")}\n${certificate}`;
}

/** Variables by which programs find the file with all of them; Node has one of its own, for what is added. */
export function trustVariables(bundlePath: string): Record<string, string> {
  return {
    SSL_CERT_FILE: bundlePath,
    REQUESTS_CA_BUNDLE: bundlePath,
    CURL_CA_BUNDLE: bundlePath,
    GIT_SSL_CAINFO: bundlePath,
  };
}
