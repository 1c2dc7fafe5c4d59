import type { RequestHandler, Response } from 'express';
import { bundleDeploymentResource } from '../../api/v1alpha1/resources.ts';
import type { Logger } from '../contracts/logger.ts';
import { errorMessage } from '../errors.ts';
import type { AccessRequest, AccessReview, AccessReviewer } from './access-review.ts';
import { callerOf } from './authenticate.ts';
import { deploymentOfPlan } from './plan-path.ts';
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
