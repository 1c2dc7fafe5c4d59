import type { Credentials } from '../configuration/keychain.ts';
import { type ImageReference, registryHost } from '../reference.ts';
import { DeniedError, RefusedRequest } from '../registry-errors.ts';
import { discard, statusText, type TransportResponse } from './response.ts';
import {
  basicAuthorization,
  parseChallenges,
  type TokenRequest,
  type TokenService,
} from './token-service.ts';
import type { Transport, TransportRequest } from './transport.ts';

export interface RepositoryRequestsOptions {
  readonly transport: Transport;
  readonly tokens: TokenService;
  /** Candidates, the most specific first; empty for anonymous requests. */
  readonly credentials: readonly Credentials[];
  /** Actions of requested tokens. Defaults to `pull`. */
  readonly actions?: 'pull' | 'pull,push';
  /** Source of the credentials, for messages. Defaults to `the pull secret`. */
  readonly credentialsName?: string | undefined;
}

/** Credentials to try, and the header that the registry has accepted with them. */
interface Login {
  readonly credentials: Credentials | undefined;
  authorization: string | undefined;
}

/**
 * Requests to one repository, with the authentication that its registry requires, and the first
 * credentials that it accepts: some may only pull.
 */
export class RepositoryRequests {
  readonly #options: RepositoryRequestsOptions;
  readonly #repository: ImageReference;
  readonly #logins: readonly Login[];
  /** Tried first: the last one that the registry accepted after it denied others. */
  #first: Login;
  #base: URL | undefined;

  constructor(repository: ImageReference, options: RepositoryRequestsOptions) {
    this.#repository = repository;
    this.#options = options;
    const [first, ...others] = options.credentials.map(loginOf);
    this.#first = first ?? loginOf(undefined);
    this.#logins = [this.#first, ...others];
  }

  /** URL of a path of the repository, for messages. */
  urlOf(path: string): URL {
    return new URL(path, new URL(`/v2/${this.#repository.path}/`, this.#base));
  }

  /**
   * Sends one request with the authentication that the registry requires; the caller reads or
   * discards the answer. `path` is relative to the repository, or a URL from the registry.
   * @throws DeniedError if the registry accepts none of the credentials
   */
  async send(path: string, wanted: TransportRequest): Promise<TransportResponse> {
    let denied: unknown;
    for (const login of new Set([this.#first, ...this.#logins])) {
      try {
        const response = await this.#sendWith(login, path, wanted);
        if (denied !== undefined) this.#first = login;
        return response;
      } catch (error) {
        if (!(error instanceof DeniedError)) throw error;
        denied ??= error;
      }
    }
    throw denied;
  }

  async #sendWith(
    login: Login,
    path: string,
    wanted: TransportRequest,
  ): Promise<TransportResponse> {
    const { transport } = this.#options;
    this.#base ??= await transport.baseURL(registryHost(this.#repository.domain), wanted.signal);
    const url = this.urlOf(path);
    const isOwn = url.origin === this.#base.origin;
    const attempt = (): Promise<TransportResponse> => {
      const authorization = isOwn ? login.authorization : undefined;
      const headers = authorization === undefined ? {} : { authorization };
      return transport.send(url, { ...wanted, headers: { ...wanted.headers, ...headers } });
    };
    let response = await attempt();
    // The target of a redirect must not receive this registry's credentials.
    for (let tries = 0; response.status === 401 && tries < 2; tries += 1) {
      if (!isOwn || response.url.origin !== url.origin) break;
      const authorization = await this.#answer(response, login, wanted.signal);
      if (authorization === undefined) break;
      await discard(response);
      login.authorization = authorization;
      response = await attempt();
    }
    if (response.status === 401 || response.status === 403) {
      throw await this.#denied(response, login, wanted.method ?? 'GET');
    }
    return response;
  }

  /** The Authorization header that answers a challenge, unless it has been tried before. */
  async #answer(
    response: TransportResponse,
    { credentials, authorization }: Login,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { transport, tokens, actions = 'pull' } = this.#options;
    const renew = authorization !== undefined;
    const challenges = parseChallenges(response.headers['www-authenticate']);
    const challenge = challenges.find(({ scheme }) => scheme === 'bearer');
    if (challenge !== undefined) {
      const scope = `repository:${this.#repository.path}:${actions}`;
      const request: TokenRequest = { challenge, scope, credentials, transport, signal };
      if (renew) tokens.forget(request);
      return `Bearer ${await tokens.token(request)}`;
    }
    if (credentials === undefined || renew) return undefined;
    if (!challenges.some(({ scheme }) => scheme === 'basic')) return undefined;
    return basicAuthorization(credentials);
  }

  async #denied(
    response: TransportResponse,
    { credentials }: Login,
    method: string,
  ): Promise<DeniedError> {
    await discard(response);
    const { domain, path } = this.#repository;
    const { credentialsName = 'the pull secret' } = this.#options;
    const how = credentials === undefined ? 'without credentials' : `with ${credentialsName}`;
    const status = statusText(response.status);
    return new DeniedError(
      `registry ${domain} denies access to repository ${path} ${how} (${status})`,
      { cause: new RefusedRequest(method, response.url.href, status) },
    );
  }
}

function loginOf(credentials: Credentials | undefined): Login {
  return { credentials, authorization: undefined };
}
