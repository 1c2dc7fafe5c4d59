import git from 'isomorphic-git';
import type { GitSource } from '../../../api/v1alpha1/bundle.ts';
import type { ContentLimits } from '../../contracts/bundle-files.ts';
import { TerminalError } from '../../errors.ts';
import { checkPack } from './check-pack.ts';
import type { HTTPTransport } from './http-transport.ts';
import { MemoryFileSystem } from './memory-file-system.ts';

const gitdir = '/repository';

export interface Repository {
  readonly fs: MemoryFileSystem;
  readonly gitdir: string;
  readonly cache: object;
}

/** A repository fetched as far as one commit needs, with that commit. */
export interface Checkout extends Repository {
  readonly commit: string;
}

/** Fetches what `git.ref` names: one commit without its history where the server allows it. */
export async function checkOut(
  source: GitSource,
  http: HTTPTransport,
  limits: ContentLimits,
): Promise<Checkout> {
  // The pack is written before it is indexed: the place to look at it first.
  const fs = new MemoryFileSystem((path, data) => {
    if (path.endsWith('.pack')) checkPack(data, limits);
  });
  const repository = { fs, gitdir, cache: {} };
  await git.init({ fs, gitdir, bare: true });
  await git.addRemote({ fs, gitdir, remote: 'origin', url: source.repository });
  const { branch, tag, commit } = source.ref;
  if (commit !== undefined) return checkOutCommit(repository, { source, commit, http });
  const ref = branch === undefined ? `refs/tags/${tag}` : `refs/heads/${branch}`;
  const oid = await resolveRef(ref, source.repository, http);
  await fetchShallow(repository, { oid, source, http });
  return { ...repository, commit: oid };
}

/** What a branch or tag points to; an annotated tag counts as the commit it is about. */
async function resolveRef(ref: string, url: string, http: HTTPTransport): Promise<string> {
  const refs = await git.listServerRefs({ http, url, prefix: ref, peelTags: true });
  const found = refs.find((candidate) => candidate.ref === ref);
  if (found === undefined) throw new Error(`couldn't find remote ref "${ref}"`);
  return found.peeled ?? found.oid;
}

interface CommitFetch {
  readonly source: GitSource;
  readonly commit: string;
  readonly http: HTTPTransport;
}

async function checkOutCommit(
  repository: Repository,
  { source, commit, http }: CommitFetch,
): Promise<Checkout> {
  const notFound = `checkout commit "${commit.padEnd(40, '0')}": object not found`;
  if (!/^[0-9a-f]{40}$/.test(commit)) {
    throw new TerminalError(`${notFound}: git.ref.commit must be the full 40 hex digits`);
  }
  const found = await tryFetchShallow(repository, { source, commit, http });
  if (!found) await fetchBranches(repository, { source, http });
  if (!(await hasCommit(repository, commit))) throw new Error(notFound);
  return { ...repository, commit };
}

/** Servers may refuse to send a commit that no ref names; only the whole history tells then. */
async function tryFetchShallow(repository: Repository, wanted: CommitFetch): Promise<boolean> {
  try {
    await fetchShallow(repository, { oid: wanted.commit, ...wanted });
    return await hasCommit(repository, wanted.commit);
  } catch (error) {
    if (error instanceof TerminalError || isAbort(error) || !isGitRefusal(error)) throw error;
    return false;
  }
}

async function fetchShallow(
  { fs, gitdir, cache }: Repository,
  { oid, source, http }: { oid: string; source: GitSource; http: HTTPTransport },
): Promise<void> {
  await git.fetch({
    fs,
    gitdir,
    cache,
    http,
    url: source.repository,
    remote: 'origin',
    ref: oid,
    singleBranch: true,
    depth: 1,
    tags: false,
  });
}

async function fetchBranches(
  { fs, gitdir, cache }: Repository,
  { source, http }: { source: GitSource; http: HTTPTransport },
): Promise<void> {
  await git.fetch({ fs, gitdir, cache, http, url: source.repository, remote: 'origin' });
}

async function hasCommit({ fs, gitdir, cache }: Repository, oid: string): Promise<boolean> {
  try {
    await git.readCommit({ fs, gitdir, cache, oid });
    return true;
  } catch (error) {
    if (error instanceof git.Errors.NotFoundError || error instanceof git.Errors.ObjectTypeError) {
      return false;
    }
    throw error;
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');
}

/** Whether the server answered in git's protocol, rather than not at all. */
function isGitRefusal(error: unknown): boolean {
  return error instanceof Error && !(error instanceof git.Errors.HttpError) && 'caller' in error;
}
