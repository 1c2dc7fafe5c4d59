import type { BundleProblem, RegistryBundle } from '../bundle/registry-bundle.ts';
import type { Installation } from '../installation.ts';
import {
  apiServiceDeployments,
  deploymentNames,
  oneTargetPerPort,
  uniqueDeployments,
  uniqueServices,
} from './deployments.ts';
import { roomForRoles, supportedInstallMode } from './install-modes.ts';
import {
  distinctWhenMoved,
  onlySupportedKinds,
  servedCrdVersion,
  uniqueCrds,
} from './manifests.ts';
import {
  conversionInAllNamespaces,
  conversionOfOwnCrds,
  conversionPrunes,
  knownWebhookTypes,
  oneConversionPerCrd,
  uniqueWebhooks,
  webhookDeployments,
  webhookNames,
  webhookRules,
} from './webhooks.ts';

/** Finds all problems of one sort that prevent the conversion of a bundle. Pure. */
type Validator = (bundle: RegistryBundle, installation: Installation) => Iterable<BundleProblem>;

/** In order of report: the first validator's first problem starts the message. */
export const validators: readonly Validator[] = [
  supportedInstallMode,
  roomForRoles,
  deploymentNames,
  uniqueDeployments,
  uniqueCrds,
  distinctWhenMoved,
  apiServiceDeployments,
  knownWebhookTypes,
  webhookDeployments,
  webhookNames,
  uniqueWebhooks,
  webhookRules,
  oneTargetPerPort,
  uniqueServices,
  conversionInAllNamespaces,
  conversionOfOwnCrds,
  oneConversionPerCrd,
  conversionPrunes,
  onlySupportedKinds,
  servedCrdVersion,
];

/** Maximum number: users fix the first ones; a bundle may have thousands, each with a long name. */
const maxProblems = 50;
/** Characters, after which no problem is added. */
const maxLength = 6 * 1024;

/**
 * The message of all problems of a bundle, or undefined without any: a single one as it is,
 * otherwise the first one, and the others on lines below it.
 */
export function problemsMessage(
  bundle: RegistryBundle,
  installation: Installation,
): string | undefined {
  const found = new Set<string>();
  let length = 0;
  for (const message of allMessages(bundle, installation)) {
    if (found.has(message)) continue;
    if (found.size === maxProblems || length > maxLength) {
      return listed(found, found.size > 1 ? 'and other problems, such as:' : 'and other problems.');
    }
    found.add(message);
    length += message.length;
  }
  const more = found.size - 1;
  return more < 1
    ? [...found][0]
    : listed(found, `and ${more} more problem${more > 1 ? 's' : ''}:`);
}

function* allMessages(bundle: RegistryBundle, installation: Installation): Generator<string, void> {
  for (const validate of validators) {
    for (const { message } of validate(bundle, installation)) yield message;
  }
}

function listed([first = '', ...others]: Iterable<string>, heading: string): string {
  return [first, heading, ...others.map((message) => `- ${message}`)].join('\n');
}
