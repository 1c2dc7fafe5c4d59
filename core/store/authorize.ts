import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { RequestHandler, Response } from 'express';
import { bundleDeploymentResource } from '../../api/v1alpha1/resources.ts';
import type { Logger } from '../contracts/logger.ts';
import { errorMessage } from '../errors.ts';
import {
  type AccessRequest,
  type AccessReview,
  type SharedAccessReviewer,
  TooManyReviews,
} from './access-review.ts';
import { deploymentOfPlan } from './plan-handler.ts';
import { sendText } from './text-response.ts';

/** Seconds. */
const retryAfter = '5';

/** HEAD is a `get`: RukPak's proxy asked for an empty verb, which no role can grant. */
const verbs: ReadonlyMap<string, string> = new Map([
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['PUT', 'update'],
  ['POST', 'create'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);

/**
 * Passes a request when its caller may use its verb on its path as a non-resource URL, or on the
 * BundleDeployment of the requested plan: otherwise answers 401, 403, 429 when its address has its
 * share of reviews, or 503 when the API server does not answer.
 */
export function authorize(reviewer: SharedAccessReviewer, logger: Logger): RequestHandler {
  return async (request, response, next) => {
    const caller = callerOf(request);
    if (caller === undefined) return sendUnauthorized(response);
    const path = decodeURIComponent(request.path);
    const access = accessOf(verbs.get(request.method) ?? '', path);
    let review: AccessReview;
    try {
      const { remoteAddress: address = '' } = request.socket;
      review = await reviewer.review(caller, access, { address, signal: goneSignal(response) });
    } catch (error) {
      if (error instanceof TooManyReviews) {
        response.set('Retry-After', retryAfter);
        return sendText(response, 429, error.message);
      }
      logger.error({ error: errorMessage(error), path }, 'cannot authorize request');
      response.set('Retry-After', retryAfter);
      return sendText(response, 503, 'the API server could not be asked whether to allow this');
    }
    if (!review.authenticated) return sendUnauthorized(response);
    if (review.allowed) {
      response.locals['user'] = review.user;
      return next();
    }
    const resource = 'resource' in access ? access.resource : '';
    sendText(
      response,
      403,
      `Forbidden (user=${review.user}, verb=${access.verb}, resource=${resource}, subresource=)`,
    );
  };
}

function accessOf(verb: string, path: string): AccessRequest {
  const name = deploymentOfPlan(path);
  if (name === undefined) return { verb, path };
  const { group, plural: resource } = bundleDeploymentResource;
  return { verb, group, resource, name };
}

function sendUnauthorized(response: Response): void {
  response.set('WWW-Authenticate', 'Bearer');
  sendText(response, 401, 'Unauthorized');
}

function goneSignal(response: Response): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return gone.signal;
}

/** The caller: a token to review, or the user of a certificate that TLS verified. */
export type Caller = { readonly token: string } | { readonly user: User };

interface User {
  readonly username: string;
  readonly groups: readonly string[];
}

/** Group of every authenticated user in Kubernetes. */
const everyUser = 'system:authenticated';

/**
 * The caller of a request; a certificate has priority over a token, as in Kubernetes. Undefined for
 * an anonymous one.
 */
export function callerOf({ socket, headers }: IncomingMessage): Caller | undefined {
  const user = socket instanceof TLSSocket ? certifiedUser(socket) : undefined;
  if (user !== undefined) return { user };
  const token = bearerToken(headers.authorization);
  return token === undefined ? undefined : { token };
}

/** A certificate's CN and O. A certificate that is untrusted, or names nobody, counts as none. */
function certifiedUser(socket: TLSSocket): User | undefined {
  if (!socket.authorized) return undefined;
  const { subject, valid_to: validTo } = socket.getPeerCertificate();
  // A connection may outlive its certificate.
  if (!(Date.parse(validTo) > Date.now())) return undefined;
  // The types allow one value each; a subject may contain several, and then the user's name is
  // ambiguous.
  const { CN: username, O: organizations = [] } = subject as Record<string, unknown>;
  if (typeof username !== 'string' || username === '') return undefined;
  return { username, groups: [...[organizations].flat().map(String), everyUser] };
}

/** The token of an `Authorization: Bearer <token>` header; undefined without one. */
function bearerToken(authorization = ''): string | undefined {
  return /^bearer +([^\s]+) *$/i.exec(authorization)?.[1];
}
