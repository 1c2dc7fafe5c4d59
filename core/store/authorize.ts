import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { RequestHandler, Response } from 'express';
import { bundleDeploymentResource } from '../../api/v1alpha1/resources.ts';
import type { Logger } from '../contracts/logger.ts';
import { errorMessage } from '../errors.ts';
import type { AccessRequest, AccessReview, AccessReviewer } from './access-review.ts';
import { deploymentOfPlan } from './plan-handler.ts';
import { sendText } from './text-response.ts';

const reviewTimeout = 10_000;
/** Seconds. */
const retryAfter = '5';

/** HEAD is a `get` here: RukPak's proxy asked for an empty verb, which no role can grant. */
const verbs: ReadonlyMap<string, string> = new Map([
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['PUT', 'update'],
  ['POST', 'create'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);

/**
 * Lets a request pass whose caller may do its verb on its path as a non-resource URL, or
 * on the BundleDeployment whose plan it is about: else 401, 403, or 503 where the API server could
 * not be asked.
 */
export function authorize(reviewer: AccessReviewer, logger: Logger): RequestHandler {
  return async (request, response, next) => {
    const caller = callerOf(request);
    if (caller === undefined) return sendUnauthorized(response);
    const path = decodeURIComponent(request.path);
    const access = accessOf(verbs.get(request.method) ?? '', path);
    let review: AccessReview;
    try {
      review = await reviewer.review(caller, access, reviewSignal(response));
    } catch (error) {
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

function reviewSignal(response: Response): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return AbortSignal.any([gone.signal, AbortSignal.timeout(reviewTimeout)]);
}

/** Who asks: a token that is yet to be reviewed, or the user of a certificate that TLS verified. */
export type Caller = { readonly token: string } | { readonly user: User };

interface User {
  readonly username: string;
  readonly groups: readonly string[];
}

/** As Kubernetes adds it to everybody whom it knows. */
const everyUser = 'system:authenticated';

/** The caller of a request, by certificate before token as in Kubernetes; undefined for nobody. */
export function callerOf({ socket, headers }: IncomingMessage): Caller | undefined {
  const user = socket instanceof TLSSocket ? certifiedUser(socket) : undefined;
  if (user !== undefined) return { user };
  const token = bearerToken(headers.authorization);
  return token === undefined ? undefined : { token };
}

/** A certificate's CN and O. One that is not trusted, or names nobody, is as good as none. */
function certifiedUser(socket: TLSSocket): User | undefined {
  if (!socket.authorized) return undefined;
  const { subject, valid_to: validTo } = socket.getPeerCertificate();
  // A connection may outlive its certificate.
  if (!(Date.parse(validTo) > Date.now())) return undefined;
  // Types know one value each; a subject may hold several, and which of two names counts is unclear.
  const { CN: username, O: organizations = [] } = subject as Record<string, unknown>;
  if (typeof username !== 'string' || username === '') return undefined;
  return { username, groups: [...[organizations].flat().map(String), everyUser] };
}

/** The token of an `Authorization: Bearer <token>` header; undefined where there is none. */
function bearerToken(authorization = ''): string | undefined {
  return /^bearer +([^\s]+) *$/i.exec(authorization)?.[1];
}
