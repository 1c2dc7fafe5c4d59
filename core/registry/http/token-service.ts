import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import type { Clock } from '../../platform/clock.ts';
import type { Credentials } from '../configuration/keychain.ts';
import { connectionError, DeniedError, isConnectionLost } from '../registry-errors.ts';
import { discard, statusText, type TransportResponse } from './response.ts';
import type { Transport } from './transport.ts';

export interface TokenRequest {
  readonly challenge: Challenge;
  /** Scope for a challenge without one: `repository:<path>:pull`. */
  readonly scope: string;
  readonly credentials: Credentials | undefined;
  readonly transport: Pick<Transport, 'send'>;
  readonly signal: AbortSignal;
}

interface Token {
  readonly value: string;
  /** Milliseconds of the monotonic clock. */
  readonly expires: number;
}

const clientId = 'rukpak';
const maxAnswer = 1024 * 1024;
const maxTokens = 1000;
/**
 * Characters of a kept token and what it is for. Registries of users choose both, and all tokens are
 * in the memory of one process; those of cloud providers have some thousand.
 */
const maxKept = 12_000;
/** Seconds. Default of the token specification, for servers that state none. */
const defaultLifetime = 60;
/** Milliseconds. A token shortly before its end is not used: it could expire on the way. */
const margin = 10_000;

const tokenSchema = z.looseObject({
  token: z.string().optional(),
  access_token: z.string().optional(),
  expires_in: z.number().optional(),
});

/** Bearer tokens from token servers (distribution's token authentication), kept until they expire. */
export class TokenService {
  readonly #clock: Clock;
  /** The most recently used one is the last. */
  readonly #tokens = new Map<string, Token>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async token(wanted: TokenRequest): Promise<string> {
    const key = tokenKey(wanted);
    const known = this.#tokens.get(key);
    const isValid = known !== undefined && known.expires > this.#clock.monotonic();
    const token = isValid ? known : await this.#fetch(wanted);
    this.#tokens.delete(key);
    if (key.length + token.value.length <= maxKept) this.#tokens.set(key, token);
    const [oldest = ''] = this.#tokens.keys();
    if (this.#tokens.size > maxTokens) this.#tokens.delete(oldest);
    return token.value;
  }

  /** Drops a token that the server has rejected. */
  forget(wanted: TokenRequest): void {
    this.#tokens.delete(tokenKey(wanted));
  }

  async #fetch(wanted: TokenRequest): Promise<Token> {
    const realm = realmURL(wanted.challenge);
    const response = await ask(realm, wanted);
    if (response.status !== 200) {
      await discard(response);
      throw new DeniedError(
        `token server ${realm.host} answered ${statusText(response.status)}${wanted.credentials === undefined ? ' to a request without credentials' : ''}`,
      );
    }
    const answer = await readAnswer(response, wanted.signal);
    const value = answer.token ?? answer.access_token ?? '';
    if (!/^[\x21-\x7e]+$/.test(value)) {
      throw new DeniedError(`token server ${realm.host} answered without a token`);
    }
    const lifetime = (answer.expires_in ?? defaultLifetime) * 1000;
    return { value, expires: this.#clock.monotonic() + lifetime - margin };
  }
}

async function ask(realm: URL, wanted: TokenRequest): Promise<TransportResponse> {
  const { credentials, transport, signal } = wanted;
  const service = wanted.challenge.parameters.get('service');
  const parameters = new URLSearchParams({
    scope: scopeOf(wanted),
    ...(service === undefined ? {} : { service }),
  });
  if (credentials?.identityToken !== undefined) {
    parameters.set('grant_type', 'refresh_token');
    parameters.set('refresh_token', credentials.identityToken);
    parameters.set('client_id', clientId);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = parameters.toString();
    return transport.send(realm, { method: 'POST', body, hasCredentials: true, headers, signal });
  }
  const url = new URL(realm);
  if (credentials !== undefined) parameters.set('account', credentials.username);
  for (const [name, value] of parameters) url.searchParams.set(name, value);
  const headers =
    credentials === undefined ? {} : { authorization: basicAuthorization(credentials) };
  return transport.send(url, { headers, signal });
}

async function readAnswer(
  response: TransportResponse,
  signal: AbortSignal,
): Promise<z.infer<typeof tokenSchema>> {
  try {
    const bytes = await buffer(limited(response.body));
    return tokenSchema.parse(JSON.parse(bytes.toString('utf8')));
  } catch (error) {
    signal.throwIfAborted();
    const { host } = response.url;
    if (isConnectionLost(error)) throw connectionError(host, error);
    throw new DeniedError(`token server ${host} answered with something that is no token`, {
      cause: error,
    });
  }
}

async function* limited(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxAnswer) throw new Error('the answer is too large');
    yield chunk;
  }
}

function realmURL({ parameters }: Challenge): URL {
  const realm = URL.parse(parameters.get('realm') ?? '');
  if (realm !== null) return realm;
  throw new DeniedError('registry asks for a token without saying where to get one');
}

function scopeOf({ challenge, scope }: TokenRequest): string {
  return challenge.parameters.get('scope') ?? scope;
}

/** Contains only a hash of secrets, in case the key becomes visible. */
function tokenKey(wanted: TokenRequest): string {
  const { parameters } = wanted.challenge;
  return JSON.stringify([
    parameters.get('realm'),
    parameters.get('service'),
    scopeOf(wanted),
    credentialsKey(wanted.credentials),
  ]);
}

/** Equal for equal credentials, and reveals nothing else about them. */
export function credentialsKey(credentials: Credentials | undefined): string {
  if (credentials === undefined) return '';
  const { username, password, identityToken } = credentials;
  return createHash('sha256')
    .update(JSON.stringify([username, password, identityToken ?? null]))
    .digest('hex');
}

export function basicAuthorization({ username, password }: Credentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** One way to authenticate that a server offers (RFC 9110, section 11.6.1). */
interface Challenge {
  /** In lower case. */
  readonly scheme: string;
  /** By name in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** Parses the challenges of WWW-Authenticate headers; skips those that it cannot parse. */
export function parseChallenges(header: string | readonly string[] | undefined): Challenge[] {
  const headers = header === undefined ? [] : typeof header === 'string' ? [header] : header;
  return headers.flatMap(challengesOf);
}

function challengesOf(header: string): Challenge[] {
  const challenges: { scheme: string; parameters: Map<string, string> }[] = [];
  // Each match is a scheme's name, or a parameter of the scheme before it.
  const item = /[\s,]*([\w!#$%&'*+.^`|~-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+)))?/y;
  for (let match = item.exec(header); match !== null; match = item.exec(header)) {
    const name = (match[1] ?? '').toLowerCase();
    const value = match[2]?.replace(/\\(.)/g, '$1') ?? match[3];
    if (value === undefined) challenges.push({ scheme: name, parameters: new Map() });
    else challenges.at(-1)?.parameters.set(name, value);
  }
  return challenges;
}
