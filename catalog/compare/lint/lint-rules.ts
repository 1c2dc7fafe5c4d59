import {
  deprecatedHead,
  headVersion,
  neverInstalled,
  ownSkipRange,
  replacesMissing,
  unreachableVersion,
  upgradeOrder,
} from './channel-rules.ts';
import type { LintLevel, LintRule } from './lint-model.ts';
import {
  deprecatedDefaultChannel,
  iconType,
  imageDigest,
  missingDependency,
  missingDescription,
  missingIcon,
  missingMetadata,
  unreadableRange,
  unservable,
} from './package-rules.ts';

/** All rules, errors first. */
export const lintRules: readonly LintRule[] = [
  ...rules('error', [
    ['upgrade-order', 'an entry replaces or skips a higher version', upgradeOrder],
    ['unreachable-head', 'no upgrade leads from an entry to the head', unreachableVersion],
    ['deprecated-default-channel', 'the default channel is deprecated', deprecatedDefaultChannel],
    ['unreadable-range', 'a range of a required package cannot be read', unreadableRange],
    ['unservable', 'opm serve refuses a name or properties', unservable],
  ]),
  ...rules('warning', [
    ['head-version', 'the head of a channel is not its highest version', headVersion],
    ['deprecated-head', 'the head of a channel is deprecated', deprecatedHead],
    ['replaces-missing', 'an entry replaces a bundle that the catalog lacks', replacesMissing],
    ['own-skip-range', 'a skipRange has the version of its own entry', ownSkipRange],
    ['image-digest', 'an image has a tag and no digest', imageDigest],
    ['missing-icon', 'a package has no icon', missingIcon],
    ['icon-type', 'an icon is not what its media type says', iconType],
  ]),
  ...rules('info', [
    ['never-installed', 'an entry skips a bundle in each of its channels', neverInstalled],
    ['missing-description', 'a package has no description', missingDescription],
    ['missing-metadata', 'a bundle has nothing for consoles to show', missingMetadata],
    ['missing-dependency', 'no bundle of the catalog meets a requirement', missingDependency],
  ]),
];

type Row = readonly [name: string, summary: string, check: LintRule['check']];

function rules(level: LintLevel, rows: readonly Row[]): readonly LintRule[] {
  return rows.map(([name, summary, check]) => ({ name, level, summary, check }));
}
