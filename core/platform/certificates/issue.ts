import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { generate } from 'selfsigned';

/** A certificate chain and its private key, in PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly privateKey: string;
}

/** Start and end of a certificate's validity, in milliseconds. */
export interface Validity {
  readonly notBefore: number;
  readonly notAfter: number;
}

type Extensions = NonNullable<NonNullable<Parameters<typeof generate>[1]>['extensions']>;

/**
 * A new self-signed certificate authority, ECDSA P-256, with a unique name: OpenSSL finds an issuer
 * by its name, and core makes one authority per Secret.
 */
export async function issueCertificateAuthority(validity: Validity): Promise<KeyPair> {
  return issue({
    commonName: `rukpak-ca@${randomUUID()}`,
    validity,
    extensions: [
      { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
      {
        name: 'keyUsage',
        keyCertSign: true,
        cRLSign: true,
        digitalSignature: true,
        critical: true,
      },
    ],
  });
}

/** A new serving certificate for `hosts` (DNS names and IP addresses), ECDSA P-256. */
export async function issueServingCertificate(
  ca: KeyPair,
  hosts: readonly string[],
  validity: Validity,
): Promise<KeyPair> {
  const [commonName = ''] = hosts;
  return issue({
    // A common name has at most 64 characters; clients read only the alternative names.
    commonName: commonName.slice(0, 64),
    validity,
    ca,
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: hosts.map((host) =>
          isIP(host) === 0 ? { type: 2, value: host } : { type: 7, ip: host },
        ),
      },
    ],
  });
}

interface Issue {
  readonly commonName: string;
  readonly validity: Validity;
  readonly extensions: Extensions;
  readonly ca?: KeyPair;
}

async function issue({ commonName, validity, extensions, ca }: Issue): Promise<KeyPair> {
  const issued = await generate([{ name: 'commonName', value: commonName }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: new Date(validity.notBefore),
    notAfterDate: new Date(validity.notAfter),
    extensions,
    ...(ca !== undefined && { ca: { cert: ca.certificate, key: ca.privateKey } }),
  });
  return { certificate: withNewline(issued.cert), privateKey: withNewline(issued.private) };
}

/** Concatenated PEM blocks must each end with a line break. */
function withNewline(pem: string): string {
  return `${pem.trim().replaceAll('\r\n', '\n')}\n`;
}
