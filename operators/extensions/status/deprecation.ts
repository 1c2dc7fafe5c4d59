import {
  clusterExtensionReason,
  clusterExtensionCondition as type,
} from '../../../api/olm/v1/index.ts';
import type { Deprecation } from '../../../resolver/candidates/index.ts';
import type { ConditionUpdate, Findings } from '../findings.ts';

const { deprecated, notDeprecated, deprecationStatusUnknown, absent } = clusterExtensionReason;

/** The four conditions, with the words of operator-controller. */
export function deprecationConditions(findings: Findings): readonly ConditionUpdate[] {
  const { choice, installation, extension } = findings;
  if (choice.kind === 'pending') return [];
  const bundle = installation.installed?.name ?? '';
  // A failed choice knows deprecations if any catalog has the package.
  if (choice.newest === undefined) return unknown(bundle);
  const { channels } = extension.request;
  const { deprecations } = choice;
  const ofPackage = messages(deprecations, ({ schema }) => schema === 'olm.package');
  const ofChannels = messages(
    deprecations,
    ({ schema, name }) =>
      schema === 'olm.channel' && (channels.length === 0 || channels.includes(name)),
  );
  const ofBundle = messages(
    deprecations,
    ({ schema, name }) => schema === 'olm.bundle' && bundle !== '' && name === bundle,
  );
  return [
    known(type.deprecated, [...ofPackage, ...ofChannels, ...ofBundle], 'not deprecated'),
    known(type.packageDeprecated, ofPackage, 'package not deprecated'),
    known(type.channelDeprecated, ofChannels, 'channel not deprecated'),
    bundle === '' ? noBundle : known(type.bundleDeprecated, ofBundle, 'bundle not deprecated'),
  ];
}

const noBundle: ConditionUpdate = {
  type: type.bundleDeprecated,
  status: 'Unknown',
  reason: absent,
  message: 'no bundle installed yet',
};

function known(
  conditionType: string,
  found: readonly string[],
  otherwise: string,
): ConditionUpdate {
  const isDeprecated = found.length > 0;
  return {
    type: conditionType,
    status: isDeprecated ? 'True' : 'False',
    reason: isDeprecated ? deprecated : notDeprecated,
    message: isDeprecated ? found.join('\n') : otherwise,
  };
}

function unknown(bundle: string): readonly ConditionUpdate[] {
  const about = {
    status: 'Unknown',
    reason: deprecationStatusUnknown,
    message: 'deprecation status unknown: catalog data unavailable',
  } as const;
  return [
    { type: type.deprecated, ...about },
    { type: type.packageDeprecated, ...about },
    { type: type.channelDeprecated, ...about },
    bundle === '' ? noBundle : { type: type.bundleDeprecated, ...about },
  ];
}

function messages(
  deprecations: readonly Deprecation[],
  concerns: (deprecation: Deprecation) => boolean,
): readonly string[] {
  return deprecations.filter(concerns).flatMap(({ message }) => (message === '' ? [] : [message]));
}
