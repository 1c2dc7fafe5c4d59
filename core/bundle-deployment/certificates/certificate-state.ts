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

/** What is known of one Secret. */
export interface CertificateEntry {
  state: CertificateState;
  /** False for what may be in this process alone. */
  stored: boolean;
  /** Since when all objects that are to trust it do; undefined while that is not known. */
  trustedSince?: number | undefined;
  /** The certificate that was told of last: the one in the cluster. */
  told?: string | undefined;
}

interface DeploymentEntries {
  readonly uid: string | undefined;
  readonly entries: Map<string, CertificateEntry>;
}

/**
 * The certificates of deployments, by the keys of their Secrets. What is remembered is put back
 * where somebody deletes or changes a Secret.
 */
export class CertificateMemory {
  readonly #deployments = new Map<string, DeploymentEntries>();

  /** Of a namesake that was deleted nothing is remembered. */
  of({ name = '', uid }: DeploymentName): Map<string, CertificateEntry> {
    const known = this.#deployments.get(name);
    if (known !== undefined && known.uid === uid) return known.entries;
    const entries = new Map<string, CertificateEntry>();
    this.#deployments.set(name, { uid, entries });
    return entries;
  }

  forget(name: string): void {
    this.#deployments.delete(name);
  }

  /** All that are in the cluster: the Secret's key, and the certificate that is served. */
  served(): readonly (readonly [string, string])[] {
    return [...this.#deployments.values()].flatMap(({ entries }) =>
      [...entries].flatMap(([key, { told }]) => (told === undefined ? [] : [[key, told] as const])),
    );
  }
}

interface DeploymentName {
  readonly name?: string | undefined;
  readonly uid?: string | undefined;
}

/** All that is kept of one Secret's certificates; PEM throughout. No authority's key is among it. */
export interface CertificateState {
  readonly serving: KeyPair;
  /** To be served once everybody trusts its authority. */
  readonly next?: KeyPair;
  /** Every authority that is trusted. */
  readonly authorities: string;
  /** What was asked for last by annotation, when the latest pair was made. */
  readonly request?: string;
}

export interface Circumstances {
  readonly hosts: readonly string[];
  /** Milliseconds that a new certificate is valid. */
  readonly lifetime: number;
  readonly now: number;
  /** What is asked for by annotation: another value asks for another certificate. */
  readonly request?: string | undefined;
  /** Since when everything trusts what the state says; undefined while it is not known to. */
  readonly trustedSince?: number | undefined;
}

const minute = 60_000;

/** Certificates begin in the past, for clients whose clock is slow. */
const backdate = 60 * minute;

/** A request that begins so asks for nothing old to be trusted. */
const revocation = 'revoke';

/**
 * Each is trusted until it expires; where new ones are asked for again and again, the newest alone.
 * More would not fit into a Secret at some time.
 */
const mostAuthorities = 20;

/** Longest time until an API server has seen what it is to trust. */
const longestPropagation = 5 * minute;

/**
 * The state as it should be now: `state` itself where it is. A certificate is followed by another
 * one, of an authority of its own, in two steps. A third of its lifetime before it expires the next
 * pair is made, and trusted beside it; that one is served once everybody has had the time to learn
 * of it. What is trusted stays so until it expires, and with it all that it has signed.
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

/** Whether the state can be served for these hosts now, whatever is due. */
export function isUsable(state: CertificateState, circumstances: Circumstances): boolean {
  return isServable(state.serving, state, circumstances);
}

/** When there is something to do next if nothing happens. */
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

/** Milliseconds since the epoch; undefined where it is no certificate. */
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
  // A clock that was ahead has made what nobody takes yet.
  return begin !== undefined && begin <= now && isAccepted(pair, { authorities, hosts, now });
}

/** Makes another pair at once: what is served is no good. */
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

/** Its key has become known: neither the certificate nor its authority is good any more. */
function isRevoked(state: CertificateState, { request }: Circumstances): boolean {
  return request !== state.request && request?.startsWith(revocation) === true;
}

/** Also where nobody can tell that all trust it, at the last moment: what is served ends. */
function mayServeNext(
  { serving }: CertificateState,
  { now, trustedSince }: Circumstances,
): boolean {
  const span = spanOf(serving);
  if (span === undefined || now >= lastMoment(span)) return true;
  return trustedSince !== undefined && now >= trustedSince + pause(span);
}

/** The authority's key is forgotten: it has signed all that it ever will. */
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
