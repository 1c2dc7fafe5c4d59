import git from 'isomorphic-git';
import type { BundleSource, GitSource } from '../../../api/v1alpha1/bundle.ts';
import type { Source, SourceContext, SourceResult } from '../../contracts/source.ts';
import { errorMessage, TerminalError } from '../../errors.ts';
import { bundleDirectory } from './bundle-directory.ts';
import { basicAuth } from './git-auth.ts';
import { HTTPTransport } from './http-transport.ts';
import { readTree } from './read-tree.ts';
import { type Checkout, checkOut } from './repository.ts';

/** Content from a git repository over HTTP(S), pinned to the commit (spec section 3.2). */
export function createGitSource(): Source {
  return { type: 'git', fetch: fetchGit };
}

async function fetchGit(source: BundleSource, context: SourceContext): Promise<SourceResult> {
  const { git: spec } = source;
  if (spec === undefined) throw new TerminalError('bundle source git configuration is unset');
  const url = repositoryURL(spec);
  const directory = bundleDirectory(spec.directory, spec.repository);
  const http = new HTTPTransport(url, {
    auth: await basicAuth(spec.auth?.secret?.name, context.secrets, context.signal),
    insecureSkipVerify: spec.auth?.insecureSkipVerify ?? false,
    maxBytes: context.limits.maxBytes,
    signal: context.signal,
  });
  try {
    const checkout = await clone(spec, http, context);
    const files = await readTree(checkout, directory, context.limits);
    const resolved = { ...spec, ref: { commit: checkout.commit } };
    return { files, resolvedSource: { type: 'git', git: resolved } };
  } finally {
    await http.close();
  }
}

function repositoryURL({ repository }: GitSource): URL {
  if (repository === '') {
    throw new TerminalError('missing git source information: repository must be provided');
  }
  const url = URL.canParse(repository) ? new URL(repository) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new TerminalError(
      `git repository "${repository}" is not supported: its URL must begin with https:// or http://`,
    );
  }
  return url;
}

async function clone(
  spec: GitSource,
  http: HTTPTransport,
  { limits, signal }: SourceContext,
): Promise<Checkout> {
  try {
    return await checkOut(spec, http, limits);
  } catch (thrown) {
    signal.throwIfAborted();
    const error = http.failure ?? thrown;
    const message = cloneErrorMessage(error);
    if (error instanceof TerminalError) throw new TerminalError(message, { cause: thrown });
    throw new Error(message, { cause: thrown });
  }
}

/** The trailing `- ` is where upstream appends what the server printed (spec section 3.2). */
function cloneErrorMessage(error: unknown): string {
  const text = errorMessage(error);
  if (text.startsWith('checkout commit ')) return text;
  return `bundle unpack git clone error: ${serverRefusal(error) ?? text} - `;
}

function serverRefusal(error: unknown): string | undefined {
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
