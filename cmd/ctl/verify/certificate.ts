import type { X509Certificate } from 'node:crypto';
import { parseCertificates } from '../../../core/platform/certificates/index.ts';

/** A serving certificate as a Secret has it; PEM. */
export interface ServingCertificate {
  readonly certificate: string;
  /** Those that it is to be trusted by. */
  readonly authorities: string;
  /** Name that it has to be for; none where it is an authority. */
  readonly host?: string;
}

const day = 24 * 3_600_000;
/** Whoever renews certificates does it earlier. */
const soon = 7 * day;

export interface CertificateVerdict {
  readonly state: 'ok' | 'warning' | 'failed';
  readonly message: string;
}

/** Judges a certificate by itself and by its authorities. `now` is in milliseconds. Pure. */
export function judgeCertificate(
  { certificate, authorities, host }: ServingCertificate,
  now: number,
): CertificateVerdict {
  const [leaf] = parseCertificates(certificate);
  if (leaf === undefined) return { state: 'failed', message: 'has no certificate in tls.crt' };
  const problem =
    timeProblem(leaf, now) ?? hostProblem(leaf, host) ?? issuerProblem(leaf, authorities);
  if (problem !== undefined) return { state: 'failed', message: problem };
  const days = Math.floor((leaf.validToDate.getTime() - now) / day);
  const state = leaf.validToDate.getTime() - now < soon ? 'warning' : 'ok';
  return {
    state,
    message: `valid for ${days} more days${host === undefined ? '' : `, for ${host}`}`,
  };
}

/** Whether one of the authorities in a PEM bundle has signed the certificate. */
export function isSignedBy(certificate: string, bundle: string): boolean {
  const [leaf] = parseCertificates(certificate);
  return leaf !== undefined && issuerProblem(leaf, bundle) === undefined;
}

function timeProblem(
  { validFromDate, validToDate }: X509Certificate,
  now: number,
): string | undefined {
  if (validToDate.getTime() <= now) return `expired at ${validToDate.toISOString()}`;
  return validFromDate.getTime() > now
    ? `is valid from ${validFromDate.toISOString()} only: see the clocks`
    : undefined;
}

function hostProblem(leaf: X509Certificate, host: string | undefined): string | undefined {
  if (host === undefined || leaf.checkHost(host) !== undefined) return undefined;
  return `is not for ${host}, but for ${leaf.subjectAltName ?? 'nobody'}`;
}

function issuerProblem(leaf: X509Certificate, authorities: string): string | undefined {
  const signed = parseCertificates(authorities).some(
    (authority) => leaf.checkIssued(authority) && leaf.verify(authority.publicKey),
  );
  return signed ? undefined : 'is signed by none of the authorities that are to be trusted';
}
