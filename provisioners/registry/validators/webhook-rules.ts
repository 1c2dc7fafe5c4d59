import type { JsonValue } from '../../../core/sdk.ts';
import { isMap, itemsOf } from '../pod-template/template-parts.ts';
import type { RegistryBundle } from '../registry-bundle.ts';
import { isAdmissionWebhook } from '../webhooks/admission-webhook.ts';

/** Whoever is asked about these can keep an operator from ever being changed or removed. */
const forbiddenGroups = ['*', 'core.rukpak.io', 'olm.operatorframework.io'];

const registration = 'admissionregistration.k8s.io';
const forbiddenResource = /^(?:\*|\*\/\*|(?:mutating|validating)webhookconfigurations?)$/i;

/** No webhook may stand in the way of what installs, upgrades and removes it. */
export function webhookRules({ csv }: RegistryBundle): string | undefined {
  for (const { generateName, fields } of csv.webhookDefinitions.filter(isAdmissionWebhook)) {
    for (const rule of itemsOf(fields['rules']).filter(isMap)) {
      const forbidden = forbiddenBy(textsOf(rule['apiGroups']), textsOf(rule['resources']));
      if (forbidden === undefined) continue;
      return `webhook "${generateName}" contains forbidden rule: admission webhook rules cannot reference ${forbidden}; name what the webhook is for in the rules of the CSV's webhookdefinitions`;
    }
  }
  return undefined;
}

function forbiddenBy(groups: readonly string[], resources: readonly string[]): string | undefined {
  const group = groups.find((each) => forbiddenGroups.includes(each));
  if (group !== undefined) return `API group "${group}"`;
  if (!groups.includes(registration)) return undefined;
  const resource = resources.find((each) => forbiddenResource.test(each));
  if (resource === undefined) return undefined;
  return `resource "${resource}" for API group "${registration}"`;
}

function textsOf(list: JsonValue | undefined): readonly string[] {
  return itemsOf(list).filter((item) => typeof item === 'string');
}
