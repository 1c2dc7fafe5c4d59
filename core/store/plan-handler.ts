import type { RequestHandler, Response } from 'express';
import { sendText } from './text-response.ts';

const timeLimit = 30_000;

const elsewhere =
  'this process unpacks, and knows no plans: ask the Service of the one that applies, such as with "rukpakctl plan --service-name=core-apply"';

/** The plans of BundleDeployments, as JSON. */
export interface ServedPlans {
  /** Undefined when there is none. */
  read(deployment: string, signal: AbortSignal): Promise<Uint8Array | undefined>;
}

/**
 * GET of `/bundledeployments/<name>/plan`, for users who may get the BundleDeployment. Without
 * plans, the answer names the server that has them.
 */
export function createPlanHandler(plans: ServedPlans | undefined): RequestHandler {
  return async (request, response, next) => {
    const name = deploymentOfPlan(decodeURIComponent(request.path));
    if (name === undefined) return next();
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.set('Allow', 'GET, HEAD');
      return sendText(response, 405, 'Method Not Allowed');
    }
    if (plans === undefined) return sendText(response, 421, elsewhere);
    await answer(plans, name, response);
  };
}

async function answer(plans: ServedPlans, name: string, response: Response): Promise<void> {
  const plan = await plans.read(name, AbortSignal.timeout(timeLimit));
  if (plan === undefined) {
    return sendText(response, 404, `there is no plan of BundleDeployment "${name}"`);
  }
  // A plan may be outdated at any moment.
  response.set('Cache-Control', 'no-store');
  response.set('Content-Type', 'application/json').send(Buffer.from(plan));
}

const pattern = /^\/bundledeployments\/([a-z0-9](?:[-.a-z0-9]*[a-z0-9])?)\/plan$/;

/** Path of a BundleDeployment's plan on the content server. */
export function planPath(deployment: string): string {
  return `/bundledeployments/${deployment}/plan`;
}

/** The BundleDeployment of a decoded plan path; undefined for any other path. */
export function deploymentOfPlan(path: string): string | undefined {
  return pattern.exec(path)?.[1];
}
