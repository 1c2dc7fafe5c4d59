import { accessSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Cluster, KubeConfig, type User } from '@kubernetes/client-node';
import { errorMessage } from '../errors.ts';
import { homeFolder } from './home-folder.ts';
import { withTokenFiles } from './token-file.ts';

export interface KubeconfigOptions {
  /** Path of the file; without it KUBECONFIG, then ~/.kube/config, then the Pod's own account. */
  readonly kubeconfig?: string;
  /** The file's current-context where absent. */
  readonly context?: string;
}

const tokenFile = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/** One cluster and one user, found in kubectl's order. Errors name the file and the way out. */
export function loadKubeconfig(options: KubeconfigOptions = {}): KubeConfig {
  const files = kubeconfigFiles(options.kubeconfig);
  if (files !== undefined) return selectContext(readFiles(files), files, options.context);
  if (process.env['KUBERNETES_SERVICE_HOST'] && exists(tokenFile)) {
    const config = new KubeConfig();
    config.loadFromCluster();
    return config;
  }
  throw new Error(
    'no cluster to talk to: set KUBECONFIG, create ~/.kube/config, or run inside a cluster with a service account',
  );
}

function kubeconfigFiles(explicit: string | undefined): readonly string[] | undefined {
  if (explicit !== undefined) return [explicit];
  const listed = (process.env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '');
  if (listed.length > 0) {
    // Like kubectl: of several files some may be absent.
    const present = listed.filter(exists);
    return present.length > 0 ? present : listed.slice(0, 1);
  }
  const own = join(homeFolder(), '.kube', 'config');
  return exists(own) ? [own] : undefined;
}

/** Entries of earlier files win, as with kubectl. */
function readFiles(files: readonly string[]): KubeConfig {
  const configs = files.map(readFile);
  const merged = new KubeConfig();
  merged.loadFromOptions({
    clusters: firstOfEachName(configs.flatMap((config) => config.clusters)),
    users: firstOfEachName(configs.flatMap((config) => config.users)),
    contexts: firstOfEachName(configs.flatMap((config) => config.contexts)),
    currentContext: configs.map((config) => config.currentContext).find(Boolean),
  });
  return merged;
}

function readFile(file: string): KubeConfig {
  const config = new KubeConfig();
  const problem = load(config, file);
  if (problem !== undefined) throw new Error(`cannot use kubeconfig ${file}: ${problem}`);
  return config;
}

/**
 * Why the file cannot be used. Nothing but the first line: the YAML library quotes the file, keys
 * included, after it and in the error itself.
 */
function load(config: KubeConfig, file: string): string | undefined {
  try {
    config.loadFromFile(file);
    config.users = withTokenFiles(config.users, file);
    return undefined;
  } catch (error) {
    return errorMessage(error).split('\n')[0];
  }
}

function selectContext(
  config: KubeConfig,
  files: readonly string[],
  wanted: string | undefined,
): KubeConfig {
  const where = `kubeconfig ${files.join(delimiter)}`;
  const name = wanted ?? config.currentContext;
  if (!name) throw new Error(`${where} has no current-context: set one or name a context`);
  const context = config.getContextObject(name);
  if (context === null) throw new Error(`${where} has no context "${name}"`);
  const cluster = config.getCluster(context.cluster);
  if (cluster === null) {
    throw new Error(
      `${where}: context "${name}" names cluster "${context.cluster}", which is absent`,
    );
  }
  const user = context.user ? config.getUser(context.user) : anonymous;
  if (user === null) {
    throw new Error(`${where}: context "${name}" names user "${context.user}", which is absent`);
  }
  const selected = new KubeConfig();
  selected.loadFromClusterAndUser(checkedCluster(cluster, where), user);
  return selected;
}

const anonymous: User = { name: 'anonymous' };

function checkedCluster(cluster: Cluster, where: string): Cluster {
  const url = URL.parse(cluster.server);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Error(`${where}: server "${cluster.server}" is not an http or https URL`);
  }
  // The library refuses plain HTTP, which `kubectl proxy` serves, unless told not to verify.
  return url.protocol === 'http:' ? { ...cluster, skipTLSVerify: true } : cluster;
}

function firstOfEachName<T extends { readonly name: string }>(entries: readonly T[]): T[] {
  return entries.filter(
    (entry, index) => entries.findIndex((other) => other.name === entry.name) === index,
  );
}

function exists(file: string): boolean {
  try {
    accessSync(file);
    return true;
  } catch {
    return false;
  }
}
