import { describe, expect, it } from 'vitest';
import {
  aCsv,
  anOwnedApiService,
  aRegistryBundle,
  aServer,
  aStrategyDeployment,
  aWebhook,
  messageOf,
} from '../../../test/helpers/registry-bundle.ts';
import type { OwnedApiService, WebhookDefinition } from '../bundle/cluster-service-version.ts';
import type { RegistryBundle } from '../bundle/registry-bundle.ts';
import {
  apiServiceDeployments,
  deploymentNames,
  oneTargetPerPort,
  uniqueDeployments,
  uniqueServices,
} from './deployments.ts';

const deployments = [aStrategyDeployment()];

/** A bundle with deployment `web`, which serves all of these. */
function serving(
  webhookDefinitions: readonly WebhookDefinition[],
  ownedApiServices: readonly OwnedApiService[] = [],
): RegistryBundle {
  return aRegistryBundle({ csv: aCsv({ deployments, webhookDefinitions, ownedApiServices }) });
}

function withDeployments(...names: readonly string[]) {
  const deployments = names.map((name) => aStrategyDeployment({ name }));
  return aRegistryBundle({ csv: aCsv({ deployments }) });
}

describe('uniqueDeployments', () => {
  it('refuses two of one name', () => {
    expect(messageOf(uniqueDeployments(withDeployments('a', 'b')))).toBeUndefined();
    expect(messageOf(uniqueDeployments(withDeployments('a', 'b', 'a')))).toMatch(
      /^cluster service version contains duplicate strategy deployment spec 'a'; give each/,
    );
  });
});

describe('deploymentNames', () => {
  it.each(['a', 'a.b-c', '0'])('takes %s', (name) => {
    expect(messageOf(deploymentNames(withDeployments(name)))).toBeUndefined();
  });

  it.each(['', 'A', 'a_b', '-a', 'a..b', 'a'.repeat(254)])('refuses "%s"', (name) => {
    expect(messageOf(deploymentNames(withDeployments('a', name)))).toContain(
      `invalid cluster service version strategy deployment name '${name}': it must be`,
    );
  });
});

describe('apiServiceDeployments', () => {
  it('refuses an API that nothing of the CSV serves', () => {
    expect(messageOf(apiServiceDeployments(serving([], [anOwnedApiService()])))).toBeUndefined();
    const gone = anOwnedApiService({ deploymentName: 'gone' });
    expect(messageOf(apiServiceDeployments(serving([], [gone])))).toBe(
      "owned APIService 'v1.metrics.example.com' references non-existent deployment 'gone'; correct deploymentName in the CSV's apiservicedefinitions to a deployment of spec.install",
    );
  });

  it.each(['group', 'version'])('refuses an API without %s', (field) => {
    expect(
      messageOf(apiServiceDeployments(serving([], [anOwnedApiService({ [field]: '' })]))),
    ).toContain(`has no ${field}; add it in the CSV's apiservicedefinitions`);
  });
});

describe('oneTargetPerPort', () => {
  it('refuses one port of the Service for two of the pods', () => {
    const other = aWebhook({ targetPort: 'https' });
    expect(messageOf(oneTargetPerPort(serving([aWebhook(), aWebhook()])))).toBeUndefined();
    expect(
      messageOf(oneTargetPerPort(serving([aWebhook(), { ...other, containerPort: 1 }]))),
    ).toBeUndefined();
    expect(messageOf(oneTargetPerPort(serving([aWebhook(), other], [anOwnedApiService()])))).toBe(
      "deployment 'web' serves containerPort 443 at different ports of its pods (https, 443, 9443); give its webhooks and owned APIServices one targetPort for it, or each its own containerPort",
    );
  });
});

describe('uniqueServices', () => {
  const complaintOf = (...names: readonly string[]) =>
    messageOf(
      uniqueServices(
        aServer(
          {
            webhookDefinitions: [aWebhook({ deploymentName: names[0] ?? '' })],
            ownedApiServices: [anOwnedApiService({ deploymentName: names[1] ?? '' })],
          },
          names,
        ),
      ),
    );

  it('refuses two deployments that would serve through one Service', () => {
    expect(complaintOf('a.b', 'a-b')).toBe(
      "deployments 'a.b' and 'a-b' would both serve through Service 'a-b-service'; rename one of them in spec.install.spec.deployments of the CSV",
    );
    const long = 'a'.repeat(55);
    expect(complaintOf(`${long}1`, `${long}2`)).toContain(`'${long}1' and '${long}2'`);
  });

  it('accepts other names, and deployments that serve nothing', () => {
    expect(complaintOf('a.b', 'a-c')).toBeUndefined();
    expect(complaintOf('a.b', 'a.b')).toBeUndefined();
    expect(complaintOf('a.b', 'other', 'a-b')).toBeUndefined();
  });
});
