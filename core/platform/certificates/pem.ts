import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { KeyPair } from './issue.ts';

const certificateBlock = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Every certificate of a PEM bundle, in its order; what is no certificate is left out. */
export function parseCertificates(bundle: string): X509Certificate[] {
  return (bundle.match(certificateBlock) ?? []).flatMap((block) => parseCertificate(block) ?? []);
}

/** The first certificate of a PEM text, or undefined where it holds none. */
export function parseCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

/** Whether the private key can be read and is the certificate's. */
export function belongTogether({ certificate, privateKey }: KeyPair): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(privateKey));
  } catch {
    return false;
  }
}

/** Whether the certificate is the authority's, by name and by signature. */
export function hasSigned(authority: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

/** When a certificate ends, in milliseconds since the epoch. */
export function expiryOf(certificate: X509Certificate): number {
  return certificate.validToDate.getTime();
}
