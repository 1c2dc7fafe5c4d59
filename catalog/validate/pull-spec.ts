import { digestProblem } from '../../core/registry/reference.ts';

const identifier = /^[a-f0-9]{64}$/;
const domain =
  /^[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*(?::[0-9]+)?$/;
const part = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*$/;
const tag = /^\w[\w.-]{0,127}$/;
const digest = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/;
const invalid = 'invalid reference format';
const maxName = 255;
/** No valid text is as long; V8 matches longer ones only up to some megabytes. */
const longest = 100_000;

/**
 * Why opm rejects a text as an image reference, in its library's words; undefined for a valid one.
 * Only for checking catalogs: `parseImageReference` reads what is pulled, and accepts addresses.
 */
export function pullSpecProblem(text: string): string | undefined {
  if (text.length > longest) return invalid;
  if (identifier.test(text)) {
    return `invalid repository name (${text}), cannot specify 64-byte hexadecimal strings`;
  }
  const { host, rest } = splitHost(text);
  const remote = rest.split(':', 1)[0] ?? '';
  if (remote.toLowerCase() !== remote) return `${invalid}: repository name must be lowercase`;
  const problem = formatProblem(host, rest);
  if (problem !== invalid) return problem;
  const lower = formatProblem(host.toLowerCase(), rest.toLowerCase());
  return lower === invalid ? invalid : 'repository name must be lowercase';
}

function splitHost(text: string): { readonly host: string; readonly rest: string } {
  const slash = text.indexOf('/');
  const first = text.slice(0, Math.max(slash, 0));
  const isHost = slash !== -1 && (/[.:]/.test(first) || first === 'localhost');
  const host = isHost ? first : 'docker.io';
  const rest = isHost ? text.slice(slash + 1) : text;
  const isHub = host === 'docker.io' || host === 'index.docker.io';
  const hub = rest.includes('/') ? rest : `library/${rest}`;
  return isHub ? { host: 'docker.io', rest: hub } : { host, rest };
}

function formatProblem(host: string, rest: string): string | undefined {
  const [named, digestText] = cut(rest, '@');
  const [path, tagText] = cut(named, ':');
  const hasName = domain.test(host) && path.split('/').every((each) => part.test(each));
  if (!hasName || !isVersion(tagText, tag) || !isVersion(digestText, digest)) return invalid;
  if (`${host}/${path}`.length > maxName) {
    return `repository name must not be more than ${maxName} characters`;
  }
  return digestText === undefined ? undefined : digestProblem(digestText);
}

function isVersion(text: string | undefined, pattern: RegExp): boolean {
  return text === undefined || pattern.test(text);
}

function cut(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
