import git from 'isomorphic-git';
import type { BundleSource, GitSource } from '../../../api/v1alpha1/bundle.ts';
import type { Source, SourceContext, SourceResult } from '../../contracts/source.ts';
import { errorMessage, TerminalError } from '../../errors.ts';
import type { AddressPolicy, ProxyConfig } from '../../platform/net/index.ts';
import { httpCredentials, readAuthSecret, sshCredentials } from './credentials.ts';
import { gitType } from './git-type.ts';
import { HTTPTransport } from './http-transport.ts';
import { bundleDirectory, readTree } from './read-tree.ts';
import type { GitTransport } from './repository.ts';
import { type Checkout, checkOut } from './repository.ts';
import {
  type RepositoryAddress,
  repositoryAddress,
  shownRepository,
} from './repository-address.ts';
import { SSHTransport } from './ssh/ssh-transport.ts';

export interface GitSourceOptions {
  /** For repositories over HTTP(S); SSH does not use proxies. */
  readonly proxy?: ProxyConfig | undefined;
  /** Addresses that connections may use, redirects included (default: all). */
  readonly addresses?: AddressPolicy | undefined;
}

/** Content from a git repository over HTTP(S) or SSH, pinned to the commit. */
export function createGitSource({ proxy, addresses }: GitSourceOptions = {}): Source {
  const options = { proxy, addresses };
  return { ...gitType, fetch: (source, context) => fetchGit(source, { ...context, ...options }) };
}

interface FetchContext extends SourceContext, GitSourceOptions {}

async function fetchGit({ git: spec }: BundleSource, context: FetchContext): Promise<SourceResult> {
  if (spec === undefined) throw new TerminalError('bundle source git configuration is unset');
  const address = repositoryAddress(spec.repository);
  const directory = bundleDirectory(spec.directory, shownRepository(spec.repository));
  const transport = await openTransport(spec, address, context);
  try {
    const checkout = await clone(spec, transport, context);
    const files = await readTree(checkout, directory, context.limits);
    const resolved = { ...spec, ref: { commit: checkout.commit } };
    return { files, resolvedSource: { type: 'git', git: resolved } };
  } finally {
    await transport.close();
  }
}

async function openTransport(
  spec: GitSource,
  address: RepositoryAddress,
  { secrets, signal, limits: { maxBytes }, proxy, addresses }: FetchContext,
): Promise<GitTransport> {
  const secret = await readAuthSecret(spec, secrets, signal);
  const insecureSkipVerify = spec.auth?.insecureSkipVerify ?? false;
  if (address.protocol === 'ssh') {
    const credentials = await sshCredentials(secret, address, insecureSkipVerify);
    return new SSHTransport({ ...credentials, address, addresses, maxBytes, signal });
  }
  const credentials = httpCredentials(secret, address.url);
  return new HTTPTransport(address.url, {
    ...credentials,
    insecureSkipVerify,
    maxBytes,
    signal,
    proxy,
    addresses,
  });
}

async function clone(
  spec: GitSource,
  transport: GitTransport,
  { limits, signal }: SourceContext,
): Promise<Checkout> {
  try {
    const repository = shownRepository(spec.repository);
    return await checkOut(spec.ref, transport, { repository, limits });
  } catch (thrown) {
    signal.throwIfAborted();
    const error = transport.failure ?? thrown;
    const message = cloneErrorMessage(error);
    if (error instanceof TerminalError) throw new TerminalError(message, { cause: thrown });
    throw new Error(message, { cause: thrown });
  }
}

/** After the trailing `- `, upstream appends what the server printed. */
function cloneErrorMessage(error: unknown): string {
  const text = errorMessage(error);
  if (text.startsWith('checkout commit ')) return text;
  return `bundle unpack git clone error: ${serverRefusal(error) ?? text} - `;
}

function serverRefusal(error: unknown): string | undefined {
  if (error instanceof git.Errors.SmartHttpError) {
    return "the server does not speak git's smart HTTP protocol: the address is not a repository's, or the server is too old";
  }
  if (error instanceof git.Errors.ParseError) {
    return `the server does not keep to git's protocol: ${error.message}`;
  }
  if (!(error instanceof git.Errors.HttpError)) return undefined;
  switch (error.data.statusCode) {
    case 401:
      return 'authentication required';
    case 403:
      return 'authorization failed';
    case 404:
      return 'repository not found';
    default:
      return `the server answered with HTTP status ${error.data.statusCode}`;
  }
}

/** For worker processes, because reading packs blocks an event loop for too long. */
// oxlint-disable-next-line import/no-default-export -- what every module of a worker exports
export default createGitSource;
