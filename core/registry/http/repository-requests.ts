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
  readonly credentials: Credentials | undefined;
  /** Actions of requested tokens. Defaults to `pull`. */
  readonly actions?: 'pull' | 'pull,push';
  /** Source of the credentials, for messages. Defaults to `the pull secret`. */
  readonly credentialsName?: string | undefined;
}

/** Requests to one repository, with the authentication that its registry requires. */
export class RepositoryRequests {
  readonly #options: RepositoryRequestsOptions;
  readonly #repository: ImageReference;
  #authorization: string | undefined;
  #base: URL | undefined;

  constructor(repository: ImageReference, options: RepositoryRequestsOptions) {
    this.#repository = repository;
    this.#options = options;
  }

  /** URL of a path of the repository, for messages. */
  urlOf(path: string): URL {
    return new URL(path, new URL(`/v2/${this.#repository.path}/`, this.#base));
  }

  /**
   * Sends one request with the authentication that the registry requires; the caller reads or
   * discards the answer. `path` is relative to the repository, or a URL from the registry.
   * @throws DeniedError if the registry requires other credentials
   */
  async send(path: string, wanted: TransportRequest): Promise<TransportResponse> {
    const { transport } = this.#options;
    this.#base ??= await transport.baseURL(registryHost(this.#repository.domain), wanted.signal);
    const url = this.urlOf(path);
    const isOwn = url.origin === this.#base.origin;
    const attempt = (): Promise<TransportResponse> => {
      const authorization = isOwn ? this.#authorization : undefined;
      const headers = authorization === undefined ? {} : { authorization };
      return transport.send(url, { ...wanted, headers: { ...wanted.headers, ...headers } });
    };
    let response = await attempt();
    // The target of a redirect must not receive this registry's credentials.
    for (let tries = 0; response.status === 401 && tries < 2; tries += 1) {
      if (!isOwn || response.url.origin !== url.origin) break;
      const authorization = await this.#answer(response, {
        renew: this.#authorization !== undefined,
        signal: wanted.signal,
      });
      if (authorization === undefined) break;
      await discard(response);
      this.#authorization = authorization;
      response = await attempt();
    }
    if (response.status === 401 || response.status === 403) {
      throw await this.#denied(response, wanted.method ?? 'GET');
    }
    return response;
  }

  /** The Authorization header that answers a challenge, unless it has been tried before. */
  async #answer(
    response: TransportResponse,
    { renew, signal }: { readonly renew: boolean; readonly signal: AbortSignal },
  ): Promise<string | undefined> {
    const { credentials, transport, tokens, actions = 'pull' } = this.#options;
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

  async #denied(response: TransportResponse, method: string): Promise<DeniedError> {
    await discard(response);
    const { domain, path } = this.#repository;
    const { credentials, credentialsName = 'the pull secret' } = this.#options;
    const how = credentials === undefined ? 'without credentials' : `with ${credentialsName}`;
    const status = statusText(response.status);
    return new DeniedError(
      `registry ${domain} denies access to repository ${path} ${how} (${status})`,
      { cause: new RefusedRequest(method, response.url.href, status) },
    );
  }
}
