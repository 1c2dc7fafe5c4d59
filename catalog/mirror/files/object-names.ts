import { createHash } from 'node:crypto';

/** Maximum length of a name without its prefix: OLM names a Service after a CatalogSource. */
const longest = 60;
const digits = 8;

/**
 * Names of objects for texts, each from its own text alone, so that `kubectl apply` never gives an
 * existing object the content of another one. Texts that differ only where a name cannot have their
 * digest in it.
 */
export function objectNames(texts: readonly string[]): (text: string) => string {
  const counts = new Map<string, number>();
  for (const text of new Set(texts)) {
    const name = plainName(text);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return (text) => {
    const name = plainName(text);
    return name.length > longest || counts.get(name) !== 1 ? nameWithDigest(text, text) : name;
  };
}

/** A readable name with the digest of what makes it unique. */
export function nameWithDigest(text: string, unique: string): string {
  const digest = createHash('sha256').update(unique).digest('hex').slice(0, digits);
  const start = plainName(text)
    .slice(0, longest - digits - 1)
    .replace(/-+$/, '');
  return `${start}-${digest}`;
}

function plainName(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
}
