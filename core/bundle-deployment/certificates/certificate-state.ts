import type { X509Certificate } from 'node:crypto';
import {
  expiryOf,
  isAccepted,
  issueCertificateAuthority,
  issueServingCertificate,
  type KeyPair,
  parseCertificate,
  parseCertificates,
  validAuthorities,
} from '../../platform/certificates/index.ts';

/** All data of one Secret's certificates, in PEM. It contains no authority's private key. */
export interface CertificateState {
  readonly serving: KeyPair;
  /** The next pair, for use when all clients trust its authority. */
  readonly next?: KeyPair;
  /** All trusted authorities. */
  readonly authorities: string;
  /** Value of the request annotation when the latest pair was made. */
  readonly request?: string;
}

export interface Circumstances {
  readonly hosts: readonly string[];
  /** Validity of a new certificate, in milliseconds. */
  readonly lifetime: number;
  readonly now: number;
  /** Value of the request annotation: a changed value requests a new certificate. */
  readonly request?: string | undefined;
  /** Time since when all objects trust the state's authorities; undefined while unknown. */
  readonly trustedSince?: number | undefined;
}

const minute = 60_000;

/** Certificates start in the past, for clients with a slow clock. */
const backdate = 60 * minute;

/** A request with this prefix removes trust in all earlier certificates. */
const revocation = 'revoke';

/**
 * Maximum number of trusted authorities: frequent requests must not fill the Secret. Each is
 * trusted until it expires, unless this number of newer ones exists.
 */
const mostAuthorities = 20;

/** Longest time until an API server has seen which authorities it must trust. */
const longestPropagation = 5 * minute;

/**
 * The state as it should be now; `state` itself when nothing is due. A certificate is rotated in
 * two steps, with an authority of its own. A third of its lifetime before it expires, core makes
 * the next pair and adds its authority to the trusted ones. Core uses that pair when all clients
 * have had time to see the authority. Every authority stays trusted until it expires.
 */
export async function advanced(
  state: CertificateState | undefined,
  circumstances: Circumstances,
): Promise<CertificateState> {
  if (state === undefined || isRevoked(state, circumstances)) {
    return await replaced(undefined, circumstances);
  }
  const valid = withoutExpired(state, circumstances);
  if (!isServable(valid.serving, valid, circumstances)) return await replaced(valid, circumstances);
  if (valid.next !== undefined)
    return mayServeNext(valid, circumstances) ? servingNext(valid) : valid;
  return isDue(valid, circumstances) ? await withNext(valid, circumstances) : valid;
}

/** Whether the state is usable for these hosts now, even if a rotation is due. */
export function isUsable(state: CertificateState, circumstances: Circumstances): boolean {
  return isServable(state.serving, state, circumstances);
}

/** The time of the next step if nothing happens before. */
export function nextStepAt(
  state: CertificateState,
  { trustedSince, lifetime }: Pick<Circumstances, 'trustedSince' | 'lifetime'>,
): number {
  const span = spanOf(state.serving) ?? { expiry: 0, lifetime };
  const expiries = parseCertificates(state.authorities).map(expiryOf);
  const steps =
    state.next === undefined
      ? [span.expiry - span.lifetime / 3]
      : [lastMoment(span), ...(trustedSince === undefined ? [] : [trustedSince + pause(span)])];
  return Math.min(...steps, ...expiries);
}

/** Milliseconds since the epoch; undefined when it is not a certificate. */
export function expiryOfPair(pair: KeyPair): number | undefined {
  return spanOf(pair)?.expiry;
}

function withoutExpired(state: CertificateState, circumstances: Circumstances): CertificateState {
  const { next, ...rest } = state;
  const kept = { ...rest, authorities: validAuthorities(rest.authorities, circumstances.now) };
  const keepsNext = next !== undefined && isServable(next, kept, circumstances);
  const isWhole = kept.authorities === rest.authorities;
  if (isWhole && (next === undefined || keepsNext)) return state;
  return keepsNext ? { ...kept, next } : kept;
}

function isServable(
  pair: KeyPair,
  { authorities }: Pick<CertificateState, 'authorities'>,
  { hosts, now }: Circumstances,
): boolean {
  const begin = parseCertificate(pair.certificate)?.validFromDate.getTime();
  // A clock that was ahead has made a pair that is not valid yet.
  return begin !== undefined && begin <= now && isAccepted(pair, { authorities, hosts, now });
}

/** Makes a new pair at once, because the present one is unusable. */
async function replaced(
  state: CertificateState | undefined,
  circumstances: Circumstances,
): Promise<CertificateState> {
  if (state?.next !== undefined) return servingNext(state);
  const fresh = await freshPair(circumstances);
  const authorities = withAuthority(fresh.authority, state?.authorities ?? '');
  return withRequest({ serving: fresh.pair, authorities }, circumstances);
}

async function withNext(
  { serving, authorities }: CertificateState,
  circumstances: Circumstances,
): Promise<CertificateState> {
  const { pair: next, authority } = await freshPair(circumstances);
  return withRequest(
    { serving, next, authorities: withAuthority(authority, authorities) },
    circumstances,
  );
}

function withAuthority(authority: string, authorities: string): string {
  const all = parseCertificates(authority + authorities);
  if (all.length <= mostAuthorities) return authority + authorities;
  return bundleOf(all.slice(0, mostAuthorities));
}

function withRequest(
  state: CertificateState,
  { request }: Pick<Circumstances, 'request'>,
): CertificateState {
  return request === undefined ? state : { ...state, request };
}

function servingNext(state: CertificateState): CertificateState {
  const { next, ...rest } = state;
  return next === undefined ? state : { ...rest, serving: next };
}

function isDue({ serving, request }: CertificateState, circumstances: Circumstances): boolean {
  if (circumstances.request !== undefined && circumstances.request !== request) return true;
  const span = spanOf(serving);
  return span === undefined || circumstances.now >= span.expiry - span.lifetime / 3;
}

/**
 * The request revokes a leaked key: neither the certificate nor its authority may be used any more.
 */
function isRevoked(state: CertificateState, { request }: Circumstances): boolean {
  return request !== state.request && request?.startsWith(revocation) === true;
}

/**
 * Also true at the last moment before the present certificate expires, even when it is unknown
 * whether all clients trust the next one.
 */
function mayServeNext(
  { serving }: CertificateState,
  { now, trustedSince }: Circumstances,
): boolean {
  const span = spanOf(serving);
  if (span === undefined || now >= lastMoment(span)) return true;
  return trustedSince !== undefined && now >= trustedSince + pause(span);
}

/** The authority's private key is not kept: it signs only this pair. */
async function freshPair({
  hosts,
  now,
  lifetime,
}: Circumstances): Promise<{ readonly pair: KeyPair; readonly authority: string }> {
  const validity = { notBefore: now - backdate, notAfter: now + lifetime };
  const authority = await issueCertificateAuthority(validity);
  const pair = await issueServingCertificate(authority, hosts, validity);
  return { pair, authority: authority.certificate };
}

interface Span {
  readonly expiry: number;
  readonly lifetime: number;
}

function spanOf({ certificate }: KeyPair): Span | undefined {
  const parsed = parseCertificate(certificate);
  if (parsed === undefined) return undefined;
  const expiry = expiryOf(parsed);
  return { expiry, lifetime: expiry - parsed.validFromDate.getTime() - backdate };
}

function lastMoment({ expiry, lifetime }: Span): number {
  return expiry - lifetime / 12;
}

function pause({ lifetime }: Span): number {
  return Math.min(longestPropagation, lifetime / 12);
}

function bundleOf(certificates: readonly X509Certificate[]): string {
  return certificates.map(String).join('');
}
