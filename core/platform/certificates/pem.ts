import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { KeyPair } from './issue.ts';

const certificateBlock = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** All valid certificates of a PEM bundle, in its order. */
export function parseCertificates(bundle: string): X509Certificate[] {
  return (bundle.match(certificateBlock) ?? []).flatMap((block) => parseCertificate(block) ?? []);
}

/** The first certificate of a PEM text; undefined without one. */
export function parseCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

/** Whether the private key is readable and belongs to the certificate. */
export function belongTogether({ certificate, privateKey }: KeyPair): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(privateKey));
  } catch {
    return false;
  }
}

/** Whether the authority issued the certificate, by name and by signature. */
export function hasSigned(authority: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

/** A PEM bundle without expired certificates; the same text when none has expired. */
export function validAuthorities(bundle: string, now: number): string {
  const all = parseCertificates(bundle);
  const valid = all.filter((certificate) => expiryOf(certificate) > now);
  return valid.length === all.length ? bundle : valid.map(String).join('');
}

/**
 * Whether clients that trust the authorities (PEM) accept the pair for these hosts (DNS names and IP
 * addresses) now.
 */
export function isAccepted(
  pair: KeyPair,
  {
    authorities,
    hosts,
    now,
  }: {
    readonly authorities: string;
    readonly hosts: readonly string[];
    readonly now: number;
  },
): boolean {
  const certificate = parseCertificate(pair.certificate);
  return (
    certificate !== undefined &&
    expiryOf(certificate) > now &&
    hosts.every((host) => isFor(certificate, host)) &&
    parseCertificates(authorities).some((authority) => hasSigned(authority, certificate)) &&
    belongTogether(pair)
  );
}

function isFor(certificate: X509Certificate, host: string): boolean {
  const match = isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host);
  return match !== undefined;
}

/** The DNS names and IP addresses that a certificate is for. */
export function hostsOf({ subjectAltName = '' }: X509Certificate): readonly string[] {
  return [...subjectAltName.matchAll(/(?:DNS|IP Address):([^,\s"]+)/g)].map(
    ([, host = '']) => host,
  );
}

/** When a certificate ends, in milliseconds since the epoch. */
export function expiryOf(certificate: X509Certificate): number {
  return certificate.validToDate.getTime();
}
