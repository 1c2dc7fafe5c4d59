import type { ServiceAccountRef } from '../../../api/v1alpha1/deployment-policies.ts';
import type { HttpTransport } from './transport.ts';

/** The name that the API server knows a ServiceAccount by. */
function serviceAccountUser({ namespace, name }: ServiceAccountRef): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

/**
 * Sends every request as a ServiceAccount, over the connections there are. It has the groups that
 * its own token would give it: a token would have to be made, renewed and kept.
 */
export function impersonating(transport: HttpTransport, account: ServiceAccountRef): HttpTransport {
  // Of a ServiceAccount the API server knows the groups: to name them takes rights of its own.
  const headers = { 'impersonate-user': serviceAccountUser(account) };
  return {
    send: async (request, timeout) =>
      await transport.send({ ...request, headers: { ...request.headers, ...headers } }, timeout),
    stream: async (request, timeout) =>
      await transport.stream({ ...request, headers: { ...request.headers, ...headers } }, timeout),
  };
}
