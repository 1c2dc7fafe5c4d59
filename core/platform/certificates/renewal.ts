import type { X509Certificate } from 'node:crypto';
import { issueCertificateAuthority, issueServingCertificate, type KeyPair } from './issue.ts';
import {
  belongTogether,
  expiryOf,
  hasSigned,
  hostsOf,
  isAccepted,
  parseCertificate,
  parseCertificates,
  validAuthorities,
} from './pem.ts';

/** The certificates that replicas share, in PEM. */
export interface CertificateState {
  /** All authorities that clients must trust, the signing one first. */
  readonly caBundle: string;
  /** Private key of the first authority. */
  readonly caKey: string;
  readonly serving: KeyPair;
}

const hour = 3_600_000;
const day = 24 * hour;

/** Lifetimes of certificates and renewal times, in milliseconds. */
const certificateLifetimes = {
  ca: 365 * day,
  /** An authority must outlive each certificate that it signs. */
  renewCaBefore: 120 * day,
  serving: 90 * day,
  renewServingBefore: 30 * day,
  /** Time for clients to learn of a new authority before the server uses its certificate. */
  propagation: hour,
  /** Certificates start in the past, for clients with a slow clock. */
  backdate: hour,
} as const;

/** Own hosts aside: processes that share the Secret may be for different ones. */
const maxHosts = 64;

/**
 * The state with everything renewed that is due for `hosts` at `now`; `state` itself when nothing
 * is due. A new authority joins the bundle an hour before the server uses its certificate; an old
 * one stays in the bundle until it expires. If a certificate lacks only hosts, the next one is for
 * its hosts too: another process may need them, and would replace it again.
 */
export async function renewCertificates(
  state: CertificateState | undefined,
  hosts: readonly string[],
  now: number,
): Promise<CertificateState> {
  const authority = await renewAuthority(state, now);
  const serving = state?.serving;
  if (serving === undefined) {
    return { ...authority, serving: await newServing(authority, hosts, now) };
  }
  if (!mustReplaceServing(serving, { authority, hosts, now })) {
    return authority.caBundle === state?.caBundle ? state : { ...authority, serving };
  }
  const isForOthers = !mustReplaceServing(serving, { authority, hosts: [], now });
  const others = isForOthers ? presentHosts(serving) : [];
  const all = [...new Set([...hosts, ...others])].slice(0, Math.max(hosts.length, maxHosts));
  return { ...authority, serving: await newServing(authority, all, now) };
}

/** Whether the state's certificate is good, but not for all of the hosts. */
export function lacksOnlyHosts(
  { serving, ...authority }: CertificateState,
  hosts: readonly string[],
  now: number,
): boolean {
  const lacks = (wanted: readonly string[]): boolean =>
    mustReplaceServing(serving, { authority, hosts: wanted, now });
  return lacks(hosts) && !lacks([]);
}

function presentHosts({ certificate }: KeyPair): readonly string[] {
  const present = parseCertificate(certificate);
  return present === undefined ? [] : hostsOf(present);
}

type Authority = Pick<CertificateState, 'caBundle' | 'caKey'>;

async function renewAuthority(
  state: CertificateState | undefined,
  now: number,
): Promise<Authority> {
  const { caBundle = '', caKey = '' } = state ?? {};
  const kept = validAuthorities(caBundle, now);
  const valid = parseCertificates(kept);
  const [signer] = valid;
  if (signer !== undefined && canSign(signer, caKey, now)) return { caBundle: kept, caKey };
  const notBefore = now - certificateLifetimes.backdate;
  const fresh = await issueCertificateAuthority({
    notBefore,
    notAfter: now + certificateLifetimes.ca,
  });
  return { caBundle: fresh.certificate + valid.map(String).join(''), caKey: fresh.privateKey };
}

function canSign(signer: X509Certificate, caKey: string, now: number): boolean {
  const { renewCaBefore } = certificateLifetimes;
  const pair = { certificate: signer.toString(), privateKey: caKey };
  return expiryOf(signer) - now > renewCaBefore && belongTogether(pair);
}

interface Circumstances {
  readonly authority: Authority;
  readonly hosts: readonly string[];
  readonly now: number;
}

function mustReplaceServing(serving: KeyPair, { authority, hosts, now }: Circumstances): boolean {
  const authorities = authority.caBundle;
  if (!isAccepted(serving, { authorities, hosts, now })) return true;
  const [certificate, [signer]] = [
    parseCertificate(serving.certificate),
    parseCertificates(authorities),
  ];
  if (certificate === undefined || signer === undefined) return true;
  const isDue = expiryOf(certificate) - now <= certificateLifetimes.renewServingBefore;
  return (isDue || !hasSigned(signer, certificate)) && isPropagated(signer, now);
}

function isPropagated(signer: X509Certificate, now: number): boolean {
  const issuedAt = signer.validFromDate.getTime() + certificateLifetimes.backdate;
  return now - issuedAt >= certificateLifetimes.propagation;
}

async function newServing(
  { caBundle, caKey }: Authority,
  hosts: readonly string[],
  now: number,
): Promise<KeyPair> {
  const [signer] = parseCertificates(caBundle);
  const ca = { certificate: String(signer), privateKey: caKey };
  return issueServingCertificate(ca, hosts, {
    notBefore: now - certificateLifetimes.backdate,
    notAfter: now + certificateLifetimes.serving,
  });
}
