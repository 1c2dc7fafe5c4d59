import { shortList } from '../../../core/short-list.ts';
import type { Dependency } from '../../../resolver/olm1/index.ts';
import type { ConditionUpdate, Findings } from '../findings.ts';

const most = 5;

/** Not in upstream's APIs; only of bundles that require something. */
export const dependenciesSatisfied = 'DependenciesSatisfied';

/** Whether what the selected bundle requires is installed; undefined if it requires nothing. */
export function dependencyCondition({ choice }: Findings): ConditionUpdate | undefined {
  if (choice.kind !== 'resolved' || choice.dependencies.length === 0) return undefined;
  const { bundle, dependencies } = choice;
  const missing = dependencies.filter(({ metBy }) => metBy === undefined);
  const awaited = dependencies.filter(({ metBy }) => metBy?.isInstalled === false);
  const type = dependenciesSatisfied;
  if (missing.length > 0) {
    const message = `bundle "${bundle.name}" requires ${shortList(
      missing.map(({ text }) => text),
      most,
    )}, which no Operator or ClusterExtension installs: create one for it`;
    return { type, status: 'False', reason: 'DependencyMissing', message };
  }
  if (awaited.length > 0) {
    const texts = awaited.map(withOwner);
    const message = `bundle "${bundle.name}" requires ${shortList(texts, most)}, which is not installed yet`;
    return { type, status: 'False', reason: 'DependencyNotInstalled', message };
  }
  const texts = dependencies.map(withOwner);
  const message = `bundle "${bundle.name}" requires ${shortList(texts, most)}`;
  return { type, status: 'True', reason: 'Satisfied', message };
}

function withOwner({ text, metBy }: Dependency): string {
  return `${text} (of ${metBy?.of})`;
}
