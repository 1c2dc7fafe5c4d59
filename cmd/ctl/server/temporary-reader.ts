import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { apiVersionOf } from '../../../api/gvk.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import {
  clusterRoleBindingResource as bindingResource,
  serviceAccountResource,
  unlessNotFound,
} from '../../../core/platform/kube/index.ts';
import type { Cluster } from '../cluster.ts';
import type { Caller } from './content-server.ts';

/** Seconds; the shortest lifetime that the API server accepts. */
const tokenLifetime = 600;

const tokenSchema = z.object({ status: z.object({ token: z.string() }) });

/**
 * Runs `work` as a ServiceAccount that may only read bundles, and deletes the account afterwards,
 * however `work` ends. The binding owns the account, so that deleting the one deletes the other.
 */
export async function asTemporaryReader<T>(
  { client }: Pick<Cluster, 'client'>,
  { namespace, signal }: { readonly namespace: string; readonly signal: AbortSignal },
  work: (caller: Caller) => Promise<T>,
): Promise<T> {
  // A unique name, because two people may read bundles at the same time.
  const suffix = randomBytes(4).toString('hex');
  const account = `rukpakctl-sa-${suffix}`;
  const binding = bindingOf(`rukpakctl-crb-${suffix}`, { namespace, account });
  // The server may still execute an interrupted request, which would leave a binding behind.
  const { metadata } = await client.create(bindingResource, binding);
  const { name = '' } = metadata;
  let failure: unknown;
  try {
    const { apiVersion, kind } = binding;
    const owner = { apiVersion, kind, name, uid: metadata.uid ?? '' };
    await client.create(
      serviceAccountResource,
      {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: account, namespace, ownerReferences: [owner] },
      },
      signal,
    );
    const answer = await client.request({
      method: 'POST',
      path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/serviceaccounts/${account}/token`,
      body: {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { expirationSeconds: tokenLifetime },
      },
      signal,
    });
    const { token } = tokenSchema.parse(answer).status;
    return await work({ token });
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    await unlessNotFound(client.delete(bindingResource, { name })).catch((error: unknown) => {
      const before = failure === undefined ? '' : `${errorMessage(failure)}; `;
      throw new TerminalError(
        `${before}ClusterRoleBinding "${name}" cannot be deleted (${errorMessage(error)}), with which ServiceAccount "${namespace}/${account}" may read bundles: delete it with kubectl`,
        { cause: failure ?? error },
      );
    });
  }
}

function bindingOf(
  name: string,
  { namespace, account }: { readonly namespace: string; readonly account: string },
): KubernetesObject {
  return {
    apiVersion: apiVersionOf(bindingResource),
    kind: bindingResource.kind,
    metadata: { name },
    roleRef: { apiGroup: bindingResource.group, kind: 'ClusterRole', name: 'bundle-reader' },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
  };
}
