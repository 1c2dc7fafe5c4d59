import { errorMessage, TerminalError } from '../errors.ts';
import { type ImageReference, parseImageReference } from './reference.ts';
import {
  prefixEnd,
  type RegistriesConfig,
  type RegistryMirror,
  type RegistryRule,
  referenceText,
  ruleFor,
} from './registries-config.ts';

/** One registry that may have an image, and the image's name there. */
export interface PullPlace {
  readonly reference: ImageReference;
  /** Its certificate is not checked, and it may be spoken to over plain HTTP. */
  readonly insecure: boolean;
}

export interface PullPlaces {
  /** In the order in which they are tried; at least one. */
  readonly places: readonly PullPlace[];
  /** Why a place is not among them. */
  readonly blocked?: string;
}

/**
 * Where an image is looked for: at the mirrors of its registry, then at the registry itself.
 * @throws TerminalError where the only place is blocked
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
  const target = location + text.slice(prefixEnd(prefix, text));
  try {
    return parseImageReference(target);
  } catch (error) {
    throw new TerminalError(
      `the registries configuration (--registries-conf) makes "${target}" of "${text}": ${errorMessage(error)}`,
      { cause: error },
    );
  }
}
