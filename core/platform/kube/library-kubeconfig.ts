import type { KubeConfig } from '@kubernetes/client-node';
import type { Kubeconfig } from './kubeconfig.ts';

/**
 * The same identity for the library, which is loaded only here and only now: it takes as much memory
 * as the rest of the process.
 */
export async function toLibraryKubeconfig({ cluster, user }: Kubeconfig): Promise<KubeConfig> {
  const library = await import('@kubernetes/client-node');
  const config = new library.KubeConfig();
  // It refuses plain HTTP, which `kubectl proxy` serves, unless told not to verify.
  const skipTLSVerify = cluster.skipTLSVerify || cluster.server.startsWith('http:');
  config.loadFromClusterAndUser(
    present({ ...cluster, skipTLSVerify, caFile: cluster.caData ? undefined : cluster.caFile }),
    present(withTokenFile(user)),
  );
  return withGroups(config, user.impersonateGroups);
}

/** It has no field for them, and sends the headers of its options as they are. */
function withGroups(config: KubeConfig, groups: readonly string[] = []): KubeConfig {
  if (groups.length === 0) return config;
  const apply = config.applyToHTTPSOptions.bind(config);
  config.applyToHTTPSOptions = async (options) => {
    await apply(options);
    options.headers = { ...options.headers, 'Impersonate-Group': [...groups] };
  };
  return config;
}

/** It knows the field under another name, and would let `token` win. */
function withTokenFile({ tokenFile, ...user }: Kubeconfig['user']): Kubeconfig['user'] {
  if (tokenFile === undefined) return user;
  return { ...user, token: undefined, authProvider: { name: 'tokenFile', config: { tokenFile } } };
}

type Present<T> = { [K in keyof T]: Exclude<T[K], undefined> };

function present<T extends object>(fields: T): Present<T> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Present<T>;
}
