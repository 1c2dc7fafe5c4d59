import type { HttpClient } from 'isomorphic-git';
import git, { type ServerRef } from 'isomorphic-git';
import type { GitSource } from '../../../api/v1alpha1/bundle.ts';
import { TerminalError } from '../../errors.ts';
import { indexPack, type PackOptions } from './index-pack.ts';
import { MemoryFileSystem } from './memory-file-system.ts';
import { printable } from './server-refusal.ts';

/** The connection of isomorphic-git to one repository, in its HTTP interface. */
export interface GitTransport extends HttpClient {
  /** The repository's URL for isomorphic-git, without credentials. */
  readonly url: string;
  /** Version of git's protocol for listing refs. */
  readonly protocolVersion: 1 | 2;
  /**
   * The error below git's protocol, because isomorphic-git reads a failed stream as a finished one.
   */
  readonly failure: Error | undefined;
  close(): Promise<void>;
}

const gitdir = '/repository';

export interface Repository {
  readonly fs: MemoryFileSystem;
  readonly gitdir: string;
  readonly cache: object;
}

/** A fetched repository, and the commit to read. */
export interface Checkout extends Repository {
  readonly commit: string;
}

/** Fetches the commit of a `git.ref`; without its history if the server allows that. */
export async function checkOut(
  { branch, tag, commit }: GitSource['ref'],
  transport: GitTransport,
  options: PackOptions,
): Promise<Checkout> {
  // isomorphic-git tries twice to write a file.
  const outcomes = new Map<string, Error>();
  const fs = new MemoryFileSystem((path, data) => {
    if (!path.endsWith('.pack')) return;
    const outcome = outcomes.get(path) ?? takePack(fs, { path, data }, options);
    outcomes.set(path, outcome);
    throw outcome;
  });
  const repository = { fs, gitdir, cache: {} };
  await git.init({ fs, gitdir, bare: true });
  await git.addRemote({ fs, gitdir, remote: 'origin', url: transport.url });
  if (commit !== undefined) return await checkOutCommit(repository, commit, transport);
  const ref = branch === undefined ? `refs/tags/${tag}` : `refs/heads/${branch}`;
  return await checkOutRef(repository, ref, transport);
}

/** Stops isomorphic-git after it has written the pack, which is indexed already. */
class PackTaken extends Error {}

/** Ends the writing of a pack: either it has its index, or it is refused. */
function takePack(
  fs: MemoryFileSystem,
  { path, data }: { readonly path: string; readonly data: Uint8Array },
  options: PackOptions,
): Error {
  try {
    const index = indexPack(data, options);
    fs.put(path, data);
    fs.put(path.replace(/pack$/, 'idx'), index);
    return new PackTaken();
  } catch (error) {
    return error as Error;
  }
}

async function fetchPack(options: Parameters<typeof git.fetch>[0]): Promise<void> {
  try {
    await git.fetch(options);
  } catch (error) {
    if (!(error instanceof PackTaken)) throw error;
  }
}

async function checkOutRef(
  repository: Repository,
  ref: string,
  transport: GitTransport,
): Promise<Checkout> {
  const found = (await listRefs(ref, transport)).find((candidate) => candidate.ref === ref);
  if (found === undefined) throw await missingRef(ref, transport);
  // Servers may send only what a ref names, so an annotated tag is fetched itself.
  await fetchShallow(repository, found.oid, transport);
  const commit = found.peeled ?? found.oid;
  if (await hasCommit(repository, commit)) return { ...repository, commit };
  throw new Error(`the server sent no commit for remote ref "${ref}"`);
}

/** Servers tell clients of SHA-1 no refs of a repository with longer names. */
async function missingRef(ref: string, transport: GitTransport): Promise<Error> {
  const { url, protocolVersion } = transport;
  const { capabilities } = await git.getRemoteInfo2({ http: transport, url, protocolVersion });
  const format = (capabilities as Readonly<Record<string, unknown>>)['object-format'] ?? 'sha1';
  if (typeof format !== 'string' || format === 'sha1') {
    return new Error(`couldn't find remote ref "${ref}"`);
  }
  return new Error(
    `the repository has the object format ${printable(format)}, and core reads sha1 only: put the content into a repository with this format`,
  );
}

async function listRefs(prefix: string, transport: GitTransport): Promise<readonly ServerRef[]> {
  const { url, protocolVersion } = transport;
  return await git.listServerRefs({
    http: transport,
    url,
    protocolVersion,
    prefix,
    peelTags: true,
  });
}

/**
 * Servers may refuse to send a commit that no ref names: then fetches its tag or the whole history.
 */
async function checkOutCommit(
  repository: Repository,
  commit: string,
  transport: GitTransport,
): Promise<Checkout> {
  const notFound = `checkout commit "${commit.padEnd(40, '0')}": object not found`;
  if (!/^[0-9a-f]{40}$/.test(commit)) {
    // Zeros complete the id, and show that all 40 digits are needed; no server has such a commit.
    throw new TerminalError(notFound);
  }
  for (const fetch of [tryFetchShallow, fetchTag, fetchBranches]) {
    await fetch(repository, commit, transport);
    if (await hasCommit(repository, commit)) return { ...repository, commit };
  }
  throw new Error(notFound);
}

async function tryFetchShallow(
  repository: Repository,
  commit: string,
  transport: GitTransport,
): Promise<void> {
  try {
    await fetchShallow(repository, commit, transport);
  } catch (error) {
    const isRefusal = transport.failure === undefined && isGitError(error);
    if (!isRefusal || error instanceof TerminalError) throw error;
  }
}

/** The annotated tag of a commit, for tags outside of all branches. */
async function fetchTag(
  repository: Repository,
  commit: string,
  transport: GitTransport,
): Promise<void> {
  const tags = await listRefs('refs/tags/', transport);
  const tag = tags.find(({ peeled }) => peeled === commit);
  if (tag !== undefined) await fetchShallow(repository, tag.oid, transport);
}

/** Leaves out the history if the server supports that. */
async function fetchShallow(
  { fs, gitdir, cache }: Repository,
  oid: string,
  transport: GitTransport,
): Promise<void> {
  const wanted = { ref: oid, singleBranch: true, tags: false };
  const place = { fs, gitdir, cache, http: transport, url: transport.url, remote: 'origin' };
  try {
    await fetchPack({ ...place, ...wanted, depth: 1 });
  } catch (error) {
    if (!(error instanceof git.Errors.RemoteCapabilityError)) throw error;
    await fetchPack({ ...place, ...wanted });
  }
}

async function fetchBranches(
  { fs, gitdir, cache }: Repository,
  _commit: string,
  transport: GitTransport,
): Promise<void> {
  await fetchPack({ fs, gitdir, cache, http: transport, url: transport.url, remote: 'origin' });
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

/** Whether the error is about the server's answer in git's protocol. */
function isGitError(error: unknown): boolean {
  return error instanceof Error && !(error instanceof git.Errors.HttpError) && 'caller' in error;
}
