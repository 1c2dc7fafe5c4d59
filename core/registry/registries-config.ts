import type { ImageReference } from './reference.ts';

/** Where images of a registry really are: containers-registries.conf(5), less what is for people. */
export interface RegistriesConfig {
  readonly registries: readonly RegistryRule[];
}

/** One `[[registry]]`. */
export interface RegistryRule {
  /** The beginning of the images' names, or `*.` and the end of their host. */
  readonly prefix: string;
  /** What stands in place of the prefix; undefined leaves the name as it is. */
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

/** The rule for an image: that with the longest prefix, the first of equally long ones. */
export function ruleFor(
  { registries }: RegistriesConfig,
  reference: ImageReference,
): RegistryRule | undefined {
  const text = referenceText(reference);
  let found: RegistryRule | undefined;
  for (const rule of registries) {
    if (prefixEnd(rule.prefix, text) === undefined) continue;
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

/** Where the part of a reference ends that a prefix stands for; undefined where it is another's. */
export function prefixEnd(prefix: string, text: string): number | undefined {
  const isWildcard = prefix.startsWith('*.');
  const wanted = isWildcard ? prefix.slice(1) : prefix;
  const start = isWildcard ? text.indexOf(wanted) : 0;
  if (start === -1 || !text.startsWith(wanted, start)) return undefined;
  // A wildcard stands for a part of the host alone.
  if (text.slice(0, start).includes('/')) return undefined;
  const end = start + wanted.length;
  return end === text.length || ':/@'.includes(text.charAt(end)) ? end : undefined;
}
