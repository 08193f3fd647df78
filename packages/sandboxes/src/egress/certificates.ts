/** A certificate authority for one lease: its key never leaves the memory of this process. */
import { createHash, generateKeyPair, type KeyObject, randomBytes, sign, X509Certificate } from "node:crypto";
import { createSecureContext, type SecureContext } from "node:tls";
import { promisify } from "node:util";

export interface CertificateAuthority {
  /** PEM, for programs that trust it. */
  readonly certificate: string;
  /** A server's key and certificate for one of the hosts; made when first asked for and renewed in time. */
  contextFor(host: string): Promise<SecureContext>;
}

const HOUR = 3_600_000;
/** Certificates hold from so long ago, so that they still hold when the clock is set back. */
const WEEK = 7 * 24 * HOUR;
/** Only this process has the key, so the authority ends with the lease and not on this date. */
const AUTHORITY_LIFETIME = 366 * 24 * HOUR;
const LEAF_LIFETIME = 48 * HOUR;

const OID = {
  ecdsaWithSha256: "2a8648ce3d040302",
  commonName: "550403",
  subjectKeyIdentifier: "551d0e",
  keyUsage: "551d0f",
  subjectAltName: "551d11",
  basicConstraints: "551d13",
  nameConstraints: "551d1e",
  authorityKeyIdentifier: "551d23",
  extendedKeyUsage: "551d25",
  serverAuth: "2b06010505070301",
} as const;

const newKeyPair = () => promisify(generateKeyPair)("ec", { namedCurve: "prime256v1" });

/** Its certificate is limited to these hosts. */
export async function createCertificateAuthority(hosts: readonly string[]): Promise<CertificateAuthority> {
  const keys = await newKeyPair();
  const name = `Deepwright sandbox egress ${randomBytes(4).toString("hex")}`;
  const permitted = hosts.map((host) => der(0x30, der(0x82, Buffer.from(host))));
  const certificate = pem(
    signed(keys.privateKey, name, name, AUTHORITY_LIFETIME, keys.publicKey, [
      extension(OID.basicConstraints, true, der(0x30, TRUE, der(0x02, Buffer.from([0])))),
      extension(OID.keyUsage, true, der(0x03, Buffer.from([1, 0x06]))),
      extension(OID.nameConstraints, true, der(0x30, der(0xa0, ...permitted))),
      extension(OID.subjectKeyIdentifier, false, der(0x04, keyIdentifier(keys.publicKey))),
    ]),
  );
  const leaves = new Map<string, { until: number; context: Promise<SecureContext> }>();
  const contextFor = (host: string) => {
    if (!hosts.includes(host)) throw new Error("the authority does not hold for this host");
    const known = leaves.get(host);
    if (known && known.until > Date.now()) return known.context;
    const context = leafContext(host, name, keys);
    leaves.set(host, { until: Date.now() + LEAF_LIFETIME / 2, context });
    return context;
  };
  return { certificate, contextFor };
}

interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

async function leafContext(host: string, issuer: string, authority: KeyPair): Promise<SecureContext> {
  const keys = await newKeyPair();
  const issuerKey = der(0x80, keyIdentifier(authority.publicKey));
  const certificate = signed(
    authority.privateKey,
    issuer,
    "Deepwright sandbox egress",
    LEAF_LIFETIME,
    keys.publicKey,
    [
      extension(OID.basicConstraints, true, der(0x30)),
      extension(OID.keyUsage, true, der(0x03, Buffer.from([7, 0x80]))),
      extension(OID.extendedKeyUsage, false, der(0x30, oid(OID.serverAuth))),
      extension(OID.subjectAltName, false, der(0x30, der(0x82, Buffer.from(host)))),
      extension(OID.subjectKeyIdentifier, false, der(0x04, keyIdentifier(keys.publicKey))),
      extension(OID.authorityKeyIdentifier, false, der(0x30, issuerKey)),
    ],
  );
  return createSecureContext({
    key: keys.privateKey.export({ type: "pkcs8", format: "pem" }),
    cert: pem(certificate),
    minVersion: "TLSv1.2",
  });
}

/** An X.509 certificate, version 3. */
function signed(
  issuerKey: KeyObject,
  issuer: string,
  subject: string,
  lifetime: number,
  publicKey: KeyObject,
  extensions: readonly Buffer[],
): Buffer {
  const algorithm = der(0x30, oid(OID.ecdsaWithSha256));
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([0x40]), randomBytes(15)])),
    algorithm,
    distinguishedName(issuer),
    der(0x30, time(Date.now() - WEEK), time(Date.now() + lifetime)),
    distinguishedName(subject),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, der(0x30, ...extensions)),
  );
  return der(0x30, body, algorithm, bits(sign("sha256", body, issuerKey)));
}

const TRUE = Buffer.from([0x01, 0x01, 0xff]);

function extension(id: string, isCritical: boolean, value: Buffer): Buffer {
  return der(0x30, oid(id), ...(isCritical ? [TRUE] : []), der(0x04, value));
}

function distinguishedName(commonName: string): Buffer {
  return der(0x30, der(0x31, der(0x30, oid(OID.commonName), der(0x0c, Buffer.from(commonName)))));
}

function keyIdentifier(key: KeyObject): Buffer {
  return createHash("sha1")
    .update(key.export({ type: "spki", format: "der" }))
    .digest();
}

/** UTCTime has no century: valid until 2049. */
function time(milliseconds: number): Buffer {
  const digits = new Date(milliseconds).toISOString().replace(/\D/g, "").slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}

const oid = (hex: string) => der(0x06, Buffer.from(hex, "hex"));
const bits = (bytes: Buffer) => der(0x03, Buffer.concat([Buffer.from([0]), bytes]));
const pem = (certificate: Buffer) => new X509Certificate(certificate).toString();

/** One value of ASN.1's DER: tag, length, content. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const hex = content.length.toString(16);
  const size = Buffer.from(hex.length % 2 ? `0${hex}` : hex, "hex");
  const length = content.length < 128 ? [content.length] : [0x80 | size.length, ...size];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}
