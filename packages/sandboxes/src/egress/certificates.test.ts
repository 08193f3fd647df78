import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect, createServer, type TLSSocket } from "node:tls";
import { expect, test } from "vitest";
import { createCertificateAuthority } from "./certificates.ts";
import { Opened } from "./egress-for-tests.ts";

/** The certificate a server with this authority shows, and whether Node takes it for `servername`. */
async function shown(opened: Opened, ca: string, servername: string, sign: (host: string) => unknown) {
  const server = createServer({
    SNICallback: (_, done) =>
      void Promise.resolve(sign(servername)).then((it) => done(null, it as never), done),
  });
  const port = await opened.listen(server);
  return new Promise<X509Certificate>((resolve, reject) => {
    const socket: TLSSocket = connect({ port, host: "127.0.0.1", ca, servername }, () => {
      resolve(socket.getPeerX509Certificate()!);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

test("Node and OpenSSL take its certificates, strictly, for the host they were made for", async () => {
  await using opened = new Opened();
  const long = `${"a".repeat(60)}.${"b".repeat(60)}.example.com`;
  const authority = await createCertificateAuthority(["api.example.com", long]);
  for (const host of ["api.example.com", long]) {
    const leaf = await shown(opened, authority.certificate, host, authority.contextFor);
    expect(leaf.checkHost(host)).toBe(host);
    expect(leaf.ca).toBe(false);
    expect(Date.parse(leaf.validTo) - Date.now()).toBeLessThan(49 * 3_600_000);
    const directory = opened.directory();
    writeFileSync(join(directory, "ca.pem"), authority.certificate);
    writeFileSync(join(directory, "leaf.pem"), leaf.toString());
    const args = [
      "verify",
      "-x509_strict",
      "-purpose",
      "sslserver",
      "-CAfile",
      "ca.pem",
      "-verify_hostname",
      host,
    ];
    expect(String(execFileSync("openssl", [...args, "leaf.pem"], { cwd: directory }))).toContain("OK");
  }
});

test("it is an authority for its hosts alone, and says so itself", async () => {
  await using opened = new Opened();
  const authority = await createCertificateAuthority(["api.example.com"]);
  expect(() => authority.contextFor("other.example.com")).toThrow("does not hold");
  const certificate = new X509Certificate(authority.certificate);
  expect(certificate.ca).toBe(true);
  const path = join(opened.directory(), "ca.pem");
  writeFileSync(path, authority.certificate);
  const text = String(execFileSync("openssl", ["x509", "-in", path, "-noout", "-text"]));
  expect(text).toMatch(/Name Constraints: critical\s+Permitted:\s+DNS:api\.example\.com/);
  expect(text).toMatch(/CA:TRUE, pathlen:0/);
  expect(text).toMatch(/Certificate Sign, CRL Sign|Certificate Sign/);
});

test("a certificate is made once for a host, and two authorities have nothing in common", async () => {
  await using opened = new Opened();
  const one = await createCertificateAuthority(["api.example.com"]);
  const other = await createCertificateAuthority(["api.example.com"]);
  expect(await one.contextFor("api.example.com")).toBe(await one.contextFor("api.example.com"));
  await expect(shown(opened, other.certificate, "api.example.com", one.contextFor)).rejects.toThrow();
  expect(new X509Certificate(one.certificate).subject).not.toBe(
    new X509Certificate(other.certificate).subject,
  );
});
