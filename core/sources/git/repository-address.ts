import { isIPv6 } from 'node:net';
import { quoted, TerminalError } from '../../errors.ts';

/** The address of a repository, and the protocol of its server. */
export type RepositoryAddress = HTTPAddress | SSHAddress;

export interface HTTPAddress {
  readonly protocol: 'http';
  readonly url: URL;
}

export interface SSHAddress {
  readonly protocol: 'ssh';
  readonly user: string;
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
  /**
   * In the form that the server's git receives; relative to the user's home without a leading
   * slash.
   */
  readonly path: string;
}

const defaultUser = 'git';
const defaultPort = 22;

// oxlint-disable-next-line no-control-regex -- what it looks for
const controlCharacters = /[\u0000-\u001f\u007f]/;

/**
 * Parses `git.repository`: `https://…`, `http://…`, `ssh://[user@]host[:port]/path`, or
 * `[user@]host:path` in scp's notation. Refuses everything else: local paths, helpers like `ext::`,
 * and text that a command line would read as an option.
 */
export function repositoryAddress(repository: string): RepositoryAddress {
  if (repository === '') {
    throw new TerminalError('missing git source information: repository must be provided');
  }
  if (controlCharacters.test(repository)) {
    throw refusal(repository, 'it has control characters or line breaks');
  }
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(repository)?.[1]?.toLowerCase();
  switch (scheme) {
    case 'http':
    case 'https':
      return { protocol: 'http', url: parseURL(repository) };
    case 'ssh':
      return checked(repository, sshURL(repository));
    case undefined:
      return checked(repository, scpAddress(repository));
    default:
      throw unknownForm(repository);
  }
}

/** A repository for messages, without the password that its URL may contain. */
export function shownRepository(repository: string): string {
  const start = repository.indexOf('//') + '//'.length;
  // The first "/" ends the password, but a password with one makes the URL invalid.
  const end = URL.parse(repository) === null ? -1 : repository.indexOf('/', start);
  // A user may be an email address, and a password may have an "@" too.
  const host = repository.lastIndexOf('@', end === -1 ? undefined : end);
  const password = repository.indexOf(':', start);
  if (start < '//'.length || password === -1 || password > host) return repository;
  return `${repository.slice(0, password)}:***${repository.slice(host)}`;
}

function parseURL(repository: string): URL {
  // Not URL.canParse, which accepts invalid URLs with hosts of 16 KiB and more.
  const url = URL.parse(repository);
  if (url !== null) return url;
  throw refusal(repository, 'it is not a valid URL');
}

function sshURL(repository: string): SSHAddress {
  const url = parseURL(repository);
  if (url.password !== '') {
    throw refusal(
      repository,
      'SSH uses no password: remove it, and put a key into the Secret that git.auth.secret names',
    );
  }
  const path = decoded(repository, url.pathname);
  return {
    protocol: 'ssh',
    user: decoded(repository, url.username) || defaultUser,
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? defaultPort : Number(url.port),
    // As in git, ssh://host/~user/x is below that user's home.
    path: path.startsWith('/~') ? path.slice(1) : path,
  };
}

function decoded(repository: string, part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw refusal(repository, 'its percent-encoding is not valid');
  }
}

/** `[user@]host:path`; as in git, a slash before the first colon makes it a local path. */
function scpAddress(repository: string): SSHAddress {
  const [, user = defaultUser, bracketed, name, path] =
    /^(?:([^@/:]+)@)?(?:\[([^\]]+)\]|([^@/:[\]]+)):([^:\\].*)$/.exec(repository) ?? [];
  const host = bracketed ?? name;
  if (host === undefined || path === undefined) throw unknownForm(repository);
  return { protocol: 'ssh', user, host, port: defaultPort, path };
}

function checked(repository: string, address: SSHAddress): SSHAddress {
  const { user, host, port, path } = address;
  if (!/^[a-z0-9_]([a-z0-9._-]*[a-z0-9_])?\.?$/i.test(host) && !isIPv6(host)) {
    throw refusal(repository, `${quoted(host)} is not a valid host name`);
  }
  // Refuses user names that an SSH client or a shell might read as an option or a command.
  if (!/^[a-z0-9_.@+][a-z0-9_.@+-]*$/i.test(user)) {
    throw refusal(repository, `${quoted(user)} is not a valid user name`);
  }
  if (port === 0) throw refusal(repository, '0 is not a valid port');
  if (path === '' || path === '/') throw refusal(repository, 'it has no path');
  if (path.startsWith('-') || controlCharacters.test(path)) {
    throw refusal(repository, 'its path begins with "-" or has control characters');
  }
  return address;
}

function unknownForm(repository: string): TerminalError {
  return refusal(
    repository,
    'its URL must begin with https://, http:// or ssh://, or have the form user@host:path',
  );
}

function refusal(repository: string, reason: string): TerminalError {
  return new TerminalError(
    `git repository ${quoted(shownRepository(repository))} is not supported: ${reason}`,
  );
}
