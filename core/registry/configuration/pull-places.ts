import { errorMessage, TerminalError, WaitingError } from '../../errors.ts';
import {
  type ImageReference,
  parseImageReference,
  repositoryName,
  spellings,
} from '../reference.ts';
import { DeniedError, UnavailableError } from '../registry-errors.ts';
import type { Keychain } from './keychain.ts';

/** One registry that may have an image, and the image's name there. */
export interface PullPlace {
  readonly reference: ImageReference;
  /** Whether an admin wants to skip the certificate check and allow plain HTTP. */
  readonly insecure: boolean;
}

export interface PullPlaces {
  /** In the order in which they are tried; at least one. */
  readonly places: readonly PullPlace[];
  /** Why a place is missing from the list. */
  readonly blocked?: string;
}

/**
 * Places to look for an image: the mirrors of its registry, then the registry itself.
 * @throws TerminalError if the only place is blocked
 */
export function pullPlaces(reference: ImageReference, config: RegistriesConfig): PullPlaces {
  const rule = ruleFor(config, reference);
  if (rule === undefined) return { places: [{ reference, insecure: false }] };
  const mirrors = rule.mirrors
    .filter((mirror) => isFor(mirror, rule, reference))
    .map(({ location, insecure }) => ({ reference: moved(reference, rule, location), insecure }))
    .filter((place) => ruleFor(config, place.reference)?.blocked !== true);
  if (!rule.blocked) {
    const own = { reference: moved(reference, rule, rule.location), insecure: rule.insecure };
    return { places: [...mirrors, own] };
  }
  const blocked = `registry ${rule.prefix} is blocked by the registries configuration (--registries-conf)`;
  if (mirrors.length > 0) return { places: mirrors, blocked };
  const unfit = rule.mirrors.length === 0 ? '' : ', and none of its mirrors may be asked for this';
  throw new TerminalError(`error fetching image descriptor: ${blocked}${unfit}`);
}

function isFor(
  { pullFrom }: RegistryMirror,
  { mirrorByDigestOnly }: RegistryRule,
  { digest }: ImageReference,
): boolean {
  if (digest !== undefined) return pullFrom !== 'tag-only';
  return !mirrorByDigestOnly && pullFrom !== 'digest-only';
}

function moved(
  reference: ImageReference,
  { prefix }: RegistryRule,
  location: string | undefined,
): ImageReference {
  if (location === undefined) return reference;
  const text = referenceText(reference);
  const target = location + (restOf(prefix, reference) ?? '');
  try {
    return parseImageReference(target);
  } catch (error) {
    throw new TerminalError(
      `the registries configuration (--registries-conf) makes "${target}" of "${text}": ${errorMessage(error)}`,
      { cause: error },
    );
  }
}

/** The step of a pull that failed at one place. */
export class PullFailure {
  readonly doing: 'fetching image descriptor' | 'verifying image signature' | 'unpacking image';
  readonly error: unknown;

  constructor(doing: PullFailure['doing'], error: unknown) {
    this.doing = doing;
    this.error = error;
  }
}

/** Error of a failed pull for the reconciler: its class decides what happens next. */
export function pullError(
  { doing, error }: PullFailure,
  { ref, pinned }: { readonly ref: string; readonly pinned: boolean },
): Error {
  const text = errorMessage(error);
  if (error instanceof UnavailableError) {
    return new WaitingError(`Back-off pulling image "${ref}": ${text}`, { cause: error });
  }
  const message = `error ${doing}: ${text}`;
  // A push can fix the content of a tag, but not the content of a digest.
  return pinned && error instanceof TerminalError
    ? new TerminalError(message, { cause: error })
    : new Error(message, { cause: error });
}

/** Joins the failures of all places into one, which names each place with its cause. */
export function joinedFailure(
  failures: readonly PullFailure[],
  { places, blocked }: PullPlaces,
  { shortcoming }: Pick<Keychain, 'shortcoming'>,
): PullFailure {
  const errors = failures.map(({ error }) => error);
  const isDenied = errors.some((error) => error instanceof DeniedError);
  const notes = [
    ...(blocked === undefined ? [] : [blocked]),
    ...(isDenied && shortcoming !== undefined ? [shortcoming] : []),
  ];
  const [first] = failures;
  if (first !== undefined && failures.length === 1 && notes.length === 0) return first;
  const texts = errors.map((error, index) => named(places[index], errorMessage(error)));
  const doing = failures.at(-1)?.doing ?? 'fetching image descriptor';
  return new PullFailure(doing, errorLike(errors, [...new Set([...texts, ...notes])].join('; ')));
}

function named(place: PullPlace | undefined, text: string): string {
  const domain = place?.reference.domain ?? '';
  return text.includes(domain) ? text : `registry ${domain}: ${text}`;
}

/** One temporary failure makes the joined failure temporary, too. */
function errorLike(errors: readonly unknown[], text: string): Error {
  const cause = new AggregateError(errors);
  if (errors.some((error) => error instanceof UnavailableError)) {
    return new UnavailableError(text, { cause });
  }
  if (errors.every((error) => error instanceof TerminalError)) {
    return new TerminalError(text, { cause });
  }
  return new Error(text, { cause });
}

/**
 * Locations of registries: containers-registries.conf(5), without the settings for interactive use.
 */
export interface RegistriesConfig {
  readonly registries: readonly RegistryRule[];
}

/** One `[[registry]]`. */
export interface RegistryRule {
  /** The beginning of the images' names, or `*.` and the end of their host; see `normalPattern`. */
  readonly prefix: string;
  /** Replacement of the prefix; undefined keeps the name. */
  readonly location: string | undefined;
  readonly insecure: boolean;
  readonly blocked: boolean;
  readonly mirrorByDigestOnly: boolean;
  /** In the order in which they are tried. */
  readonly mirrors: readonly RegistryMirror[];
}

export interface RegistryMirror {
  readonly location: string;
  readonly insecure: boolean;
  readonly pullFrom: 'all' | 'digest-only' | 'tag-only';
}

/** The rule with the longest prefix for an image; the first of equally long ones. */
export function ruleFor(
  { registries }: RegistriesConfig,
  reference: ImageReference,
): RegistryRule | undefined {
  let found: RegistryRule | undefined;
  for (const rule of registries) {
    if (restOf(rule.prefix, reference) === undefined) continue;
    if (found === undefined || rule.prefix.length > found.prefix.length) found = rule;
  }
  return found;
}

/** `<domain>/<path>[:<tag>][@<digest>]`. */
export function referenceText({ domain, path, tag, digest }: ImageReference): string {
  return [
    `${domain}/${path}`,
    ...(tag === undefined ? [] : [`:${tag}`]),
    ...(digest === undefined ? [] : [`@${digest}`]),
  ].join('');
}

/** What follows the prefix in a spelling of the reference; undefined if none has the prefix. */
function restOf(prefix: string, reference: ImageReference): string | undefined {
  const version = referenceText(reference).slice(repositoryName(reference).length);
  for (const name of spellings(reference)) {
    const text = `${name}${version}`;
    const end = prefixEnd(prefix, text);
    if (end !== undefined) return text.slice(end);
  }
  return undefined;
}

/** End of the prefix in a reference; undefined if the prefix does not match. */
function prefixEnd(prefix: string, text: string): number | undefined {
  const isWildcard = prefix.startsWith('*.');
  const wanted = isWildcard ? prefix.slice(1) : prefix;
  const start = isWildcard ? text.indexOf(wanted) : 0;
  if (start === -1 || !text.startsWith(wanted, start)) return undefined;
  // A wildcard matches only a part of the host.
  if (text.slice(0, start).includes('/')) return undefined;
  const end = start + wanted.length;
  return end === text.length || ':/@'.includes(text.charAt(end)) ? end : undefined;
}
