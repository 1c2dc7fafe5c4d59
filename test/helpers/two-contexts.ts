import { readFile, rm, writeFile } from 'node:fs/promises';
import type { FakeApiServer } from './fake-api-server.ts';

/** A kubeconfig of two clusters. */
export interface TwoContexts extends AsyncDisposable {
  /** File whose current context, `live`, is a cluster that does not answer; `mine` is the fake one. */
  readonly kubeconfig: string;
  /** URL of the fake one. */
  readonly server: string;
}

export async function twoContexts(api: FakeApiServer): Promise<TwoContexts> {
  const { clusters, users } = JSON.parse(await readFile(api.kubeconfig, 'utf8'));
  const kubeconfig = `${api.kubeconfig}-of-two`;
  const prod = { name: 'prod', cluster: { server: 'http://127.0.0.1:9' } };
  const config = {
    clusters: [...clusters, prod],
    users,
    contexts: [
      { name: 'live', context: { cluster: 'prod', user: 'u' } },
      { name: 'mine', context: { cluster: 'c', user: 'u' } },
    ],
    'current-context': 'live',
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  return {
    kubeconfig,
    server: clusters[0].cluster.server,
    [Symbol.asyncDispose]: async () => await rm(kubeconfig, { force: true }),
  };
}
