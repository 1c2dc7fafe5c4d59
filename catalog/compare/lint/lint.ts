import { compareBytes } from '../../../api/byte-order.ts';
import { TerminalError } from '../../../core/errors.ts';
import type { Blob, BlobPlace } from '../../blobs/index.ts';
import { FieldLines } from './field-line.ts';
import { lintFacts } from './lint-facts.ts';
import type { Finding, Found, LintRule } from './lint-model.ts';
import { lintRules } from './lint-rules.ts';

export interface LintOptions {
  /** Names of the rules to check. Defaults to all. */
  readonly rules?: ReadonlySet<string> | undefined;
  /**
   * Returns the text of a blob, for the lines of its fields. Without it, findings have the line of
   * the blob.
   */
  readonly textOf?: ((place: BlobPlace) => Promise<Uint8Array>) | undefined;
}

/**
 * Problems of a catalog that opm accepts, by file and line. Keeps only names, versions and
 * dependencies of bundles in memory.
 * @throws BlobError for an unreadable blob, TerminalError for an unknown rule
 */
export async function lintCatalog(
  blobs: AsyncIterable<Blob>,
  { rules, textOf }: LintOptions = {},
): Promise<readonly Finding[]> {
  const chosen = chosenRules(rules);
  const catalog = await lintFacts(blobs);
  const found: FoundBy[] = [];
  for (const checked of catalog.packages.values()) {
    for (const rule of chosen) {
      for (const each of rule.check(checked, catalog)) {
        found.push({ rule, owner: checked.name, found: each });
      }
    }
  }
  const findings: Finding[] = [];
  for (const group of Map.groupBy(found, (each) => each.found.place).values()) {
    findings.push(...(await findingsOf(group, textOf)));
  }
  return findings.sort((a, b) => compareBytes(a.file, b.file) || a.line - b.line);
}

function chosenRules(names: ReadonlySet<string> | undefined): readonly LintRule[] {
  const unknown = [...(names ?? [])].find((name) => !lintRules.some((rule) => rule.name === name));
  if (unknown === undefined) return lintRules.filter(({ name }) => names?.has(name) ?? true);
  const known = lintRules.map(({ name }) => name).join(', ');
  throw new TerminalError(`there is no rule "${unknown}", but ${known}`);
}

interface FoundBy {
  readonly rule: LintRule;
  readonly owner: string;
  readonly found: Found;
}

/** Findings of one blob. */
async function findingsOf(
  group: readonly FoundBy[],
  textOf: LintOptions['textOf'],
): Promise<readonly Finding[]> {
  const place = group[0]?.found.place;
  const text = place === undefined ? undefined : await textOf?.(place);
  const lines =
    text === undefined || place === undefined ? undefined : new FieldLines(text, place.line);
  return group.map(({ rule, owner, found }) => {
    const { message, channel, bundle, path } = found;
    return {
      rule: rule.name,
      level: rule.level,
      message,
      file: found.place.file,
      line: lines?.of(path) ?? found.place.line,
      package: owner,
      ...(channel === undefined ? {} : { channel }),
      ...(bundle === undefined ? {} : { bundle }),
    };
  });
}
