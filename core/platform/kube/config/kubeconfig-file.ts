import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { errorMessage } from '../../../errors.ts';

/** A server and its TLS verification. */
export interface KubeconfigCluster {
  readonly name: string;
  readonly server: string;
  /** PEM in base64; overrides the file. */
  readonly caData?: string | undefined;
  readonly caFile?: string | undefined;
  readonly tlsServerName?: string | undefined;
  readonly skipTLSVerify: boolean;
  readonly proxyUrl?: string | undefined;
}

/** An identity in a kubeconfig file. */
export interface KubeconfigUser {
  readonly name: string;
  readonly token?: string | undefined;
  /** Overrides `token`. */
  readonly tokenFile?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly certData?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyData?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly impersonateUser?: string | undefined;
  /** The API server refuses groups without a user. */
  readonly impersonateGroups?: readonly string[] | undefined;
  /** Fields that only client-node understands. */
  readonly exec?: unknown;
  readonly authProvider?: unknown;
}

interface KubeconfigContext {
  readonly name: string;
  readonly cluster?: string | undefined;
  readonly user?: string | undefined;
  readonly namespace?: string | undefined;
}

export interface KubeconfigFile {
  readonly clusters: readonly KubeconfigCluster[];
  readonly users: readonly KubeconfigUser[];
  readonly contexts: readonly KubeconfigContext[];
  readonly currentContext?: string | undefined;
}

/** Absent, null and empty are equal; YAML reads a password of digits as a number. */
const text = z
  .union([z.string(), z.number().transform(String)])
  .nullish()
  .transform((value) => value || undefined);
const required = z.string().min(1);

const clusterSchema = z.object({
  name: required,
  cluster: z.object({
    server: required,
    'certificate-authority-data': text,
    'certificate-authority': text,
    'tls-server-name': text,
    'insecure-skip-tls-verify': z.boolean().nullish(),
    'proxy-url': text,
  }),
});

const userSchema = z.object({
  name: required,
  user: z
    .object({
      token: text,
      tokenFile: text,
      username: text,
      password: text,
      as: text,
      'as-groups': z.array(required).nullish(),
      'client-certificate-data': text,
      'client-certificate': text,
      'client-key-data': text,
      'client-key': text,
      exec: z.unknown().optional(),
      'auth-provider': z.unknown().optional(),
    })
    .nullish(),
});

const contextSchema = z.object({
  name: required,
  // `kubectl config set-context` creates contexts without names; that is an error only for the
  // selected one.
  context: z.object({ cluster: text, user: text, namespace: text }),
});

const fileSchema = z.object({
  clusters: z.array(clusterSchema).nullish(),
  users: z.array(userSchema).nullish(),
  contexts: z.array(contextSchema).nullish(),
  'current-context': text,
});

/**
 * Reads one kubeconfig; paths in it are relative to its folder.
 * @throws Error that names the file, and quotes nothing of it, because it contains keys.
 */
export function readKubeconfigFile(path: string): KubeconfigFile {
  const parsed = fileSchema.safeParse(parseFile(path), { reportInput: true });
  if (!parsed.success) throw unusable(path, problemOf(parsed.error));
  const { clusters, users, contexts, 'current-context': currentContext } = parsed.data;
  const folder = dirname(path);
  return {
    clusters: (clusters ?? []).map((entry) => clusterOf(entry, folder)),
    users: (users ?? []).map((entry) => userOf(entry, folder)),
    contexts: (contexts ?? []).map(({ name, context }) => ({ name, ...context })),
    currentContext,
  };
}

function parseFile(path: string): unknown {
  try {
    return valueOf(readFileSync(path, 'utf8'));
  } catch (error) {
    throw unusable(path, errorMessage(error).replaceAll(/\p{Cc}/gu, '\ufffd'));
  }
}

/** The messages of the library quote the file, which has keys and tokens in it. */
function valueOf(text: string): unknown {
  const lineCounter = new LineCounter();
  const options = { merge: true, logLevel: 'error', prettyErrors: false, lineCounter } as const;
  const document = parseDocument(text, options);
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, col } = lineCounter.linePos(error.pos[0]);
    const problem = error.code.toLowerCase().replaceAll('_', ' ');
    throw new Error(`it is no YAML: ${problem} at line ${line}, column ${col}`);
  }
  try {
    return document.toJS();
  } catch {
    throw new Error('its YAML has too many aliases, or one without an anchor');
  }
}

function unusable(path: string, problem: string): Error {
  return new Error(`cannot use kubeconfig ${path}: ${problem}`);
}

function problemOf({ issues: [issue] }: z.ZodError): string {
  const { path = [], input } = issue ?? {};
  const field = z.core.toDotPath(path);
  if (field === '') return 'it has no fields';
  return input ? `${field} is not of the type that it has to be` : `${field} is missing`;
}

function clusterOf(
  { name, cluster }: z.infer<typeof clusterSchema>,
  folder: string,
): KubeconfigCluster {
  return {
    name,
    server: cluster.server.replace(/\/$/, ''),
    caData: cluster['certificate-authority-data'],
    caFile: absolute(folder, cluster['certificate-authority']),
    tlsServerName: cluster['tls-server-name'],
    skipTLSVerify: cluster['insecure-skip-tls-verify'] === true,
    proxyUrl: cluster['proxy-url'],
  };
}

function userOf({ name, user }: z.infer<typeof userSchema>, folder: string): KubeconfigUser {
  if (!user) return { name };
  return {
    name,
    token: user.token,
    tokenFile: absolute(folder, user.tokenFile),
    username: user.username,
    password: user.password,
    certData: user['client-certificate-data'],
    certFile: absolute(folder, user['client-certificate']),
    keyData: user['client-key-data'],
    keyFile: absolute(folder, user['client-key']),
    impersonateUser: user.as,
    impersonateGroups: user['as-groups'] ?? undefined,
    exec: user.exec,
    authProvider: user['auth-provider'],
  };
}

function absolute(folder: string, path: string | undefined): string | undefined {
  return path === undefined ? undefined : resolve(folder, path);
}
