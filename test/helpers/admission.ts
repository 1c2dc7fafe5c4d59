import { gvkOf } from '../../api/gvk.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import { ApiError, connect } from '../../core/platform/kube/index.ts';

/** What the API server makes of an object, or why it refuses it. */
export interface Judgement {
  readonly refusal?: string;
  readonly admitted?: unknown;
}

/**
 * Sends objects of cluster-scoped kinds to the API server as they are, for its judgement alone:
 * nothing is stored, and no client judges before.
 */
export async function judge(kubeconfig: string, object: object): Promise<Judgement> {
  const { client, close } = connect({ kubeconfig, userAgent: 'tests' });
  const { group, version, kind } = gvkOf(object as KubernetesObject);
  const path = `/apis/${group}/${version}/${kind.toLowerCase()}s?dryRun=All`;
  try {
    return { admitted: await client.request({ method: 'POST', path, body: object }) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { refusal: error.message };
  } finally {
    await close();
  }
}
