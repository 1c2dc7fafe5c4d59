import { accessSync, readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { quoted } from '../../../errors.ts';
import {
  type KubeconfigCluster,
  type KubeconfigFile,
  type KubeconfigUser,
  readKubeconfigFile,
} from './kubeconfig-file.ts';

export interface KubeconfigOptions {
  /** Path of the file (default: KUBECONFIG, then ~/.kube/config, then the Pod's own account). */
  readonly kubeconfig?: string | undefined;
  /** Default: the file's current-context. */
  readonly context?: string | undefined;
  /** User to impersonate, instead of the one that the file's user impersonates. */
  readonly as?: string;
  /** Groups to impersonate; only with `as`. */
  readonly asGroups?: readonly string[];
}

/** One identity at one API server. */
export interface Kubeconfig {
  readonly cluster: KubeconfigCluster;
  readonly user: KubeconfigUser;
  /** Name of the context; absent for the Pod's own account. */
  readonly context?: string;
  /** Namespace of the context. */
  readonly namespace?: string;
  /** The files that were read; empty for the Pod's own account. */
  readonly files: readonly string[];
}

const accountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Finds one cluster and one user in kubectl's order. Errors name the file and the remedy. */
export function loadKubeconfig(options: KubeconfigOptions = {}): Kubeconfig {
  const config = namedKubeconfig(options);
  const { as: impersonateUser, asGroups: impersonateGroups = [] } = options;
  if (impersonateUser === undefined) return config;
  return { ...config, user: { ...config.user, impersonateUser, impersonateGroups } };
}

function namedKubeconfig(options: KubeconfigOptions): Kubeconfig {
  const files = kubeconfigFiles(options.kubeconfig);
  if (files !== undefined) {
    return selectContext(mergeFiles(files.map(readKubeconfigFile)), files, options.context);
  }
  const ownAccount = accountOfPod();
  if (ownAccount !== undefined) return ownAccount;
  throw new Error(
    'no cluster to talk to: set KUBECONFIG, create ~/.kube/config, or run inside a cluster with a service account',
  );
}

function accountOfPod(): Kubeconfig | undefined {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
  const tokenFile = join(accountFolder, 'token');
  if (!host || !port || !exists(tokenFile)) return undefined;
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const caFile = join(accountFolder, 'ca.crt');
  return {
    cluster: { name: 'in-cluster', server, caFile, skipTLSVerify: false },
    user: { name: 'in-cluster', tokenFile },
    files: [],
  };
}

function kubeconfigFiles(explicit: string | undefined): readonly string[] | undefined {
  if (explicit !== undefined) return [explicit];
  const listed = (process.env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '');
  if (listed.length > 0) {
    // As in kubectl, some of several files may be missing.
    const present = listed.filter(exists);
    return present.length > 0 ? present : listed.slice(0, 1);
  }
  const own = join(homeFolder(), '.kube', 'config');
  return exists(own) ? [own] : undefined;
}

/** Entries of earlier files have priority, as in kubectl. */
function mergeFiles(files: readonly KubeconfigFile[]): KubeconfigFile {
  return {
    clusters: files.flatMap(({ clusters }) => clusters),
    users: files.flatMap(({ users }) => users),
    contexts: files.flatMap(({ contexts }) => contexts),
    currentContext: files.map(({ currentContext }) => currentContext).find(Boolean),
  };
}

function selectContext(
  config: KubeconfigFile,
  files: readonly string[],
  wanted: string | undefined,
): Kubeconfig {
  const where = `kubeconfig ${files.join(delimiter)}`;
  const name = wanted ?? config.currentContext;
  if (!name) throw new Error(`${where} has no current-context: set one or name a context`);
  const context = named(config.contexts, name);
  if (context === undefined) throw new Error(`${where} has no context ${quoted(name)}`);
  const { cluster: clusterName = '' } = context;
  const cluster = named(config.clusters, clusterName);
  if (cluster === undefined) {
    throw new Error(
      `${where}: context ${quoted(name)} names cluster ${quoted(clusterName)}, which is absent`,
    );
  }
  const user = context.user === undefined ? anonymous : named(config.users, context.user);
  if (user === undefined) {
    throw new Error(
      `${where}: context ${quoted(name)} names user ${quoted(context.user ?? '')}, which is absent`,
    );
  }
  checkServer(cluster, where);
  const { namespace } = context;
  return { cluster, user, context: name, files, ...(namespace === undefined ? {} : { namespace }) };
}

/** For messages, such as `cluster "prod" (https://10.0.0.1:6443), context "admin" of ~/.kube/config`. */
export function clusterText({ cluster, context, files }: Kubeconfig): string {
  const place = `cluster ${quoted(cluster.name)} (${cluster.server})`;
  return context === undefined
    ? `${place}, with the ServiceAccount of this pod`
    : `${place}, context ${quoted(context)} of ${files.join(delimiter)}`;
}

const anonymous: KubeconfigUser = { name: 'anonymous' };

/** The first one of that name. */
function named<T extends { readonly name: string }>(
  entries: readonly T[],
  name: string,
): T | undefined {
  return entries.find((entry) => entry.name === name);
}

function checkServer({ server }: KubeconfigCluster, where: string): void {
  const url = URL.parse(server);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Error(`${where}: server ${quoted(server)} is not an http or https URL`);
  }
}

function exists(file: string): boolean {
  try {
    accessSync(file);
    return true;
  } catch {
    return false;
  }
}

/**
 * The user's home; the root for a user without one, as container runtimes do: a cluster may run a
 * pod as a user that is missing in the image.
 */
export function homeFolder(): string {
  try {
    return homedir();
  } catch {
    return '/';
  }
}

const namespaceFile = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

/** The namespace of this pod; `otherwise` outside of pods. */
export function podNamespace(otherwise = 'rukpak-system'): string {
  try {
    return readFileSync(namespaceFile, 'utf8').trim();
  } catch {
    return otherwise;
  }
}
