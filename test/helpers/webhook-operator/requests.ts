import { gaugeApi, widgetApi } from './apis.ts';
import type { ApiAnswer, ApiCaller, ApiRequest, Step } from './request-stream.ts';

export interface Widget {
  readonly name: string;
  readonly namespace?: string;
  /** A widget of v1. */
  readonly replicas?: number;
  /** A widget of v1alpha1, where there are no replicas. */
  readonly size?: number;
}

export function aWidget({ name, namespace = 'default', replicas, size }: Widget): object {
  const version = replicas === undefined ? 'v1alpha1' : 'v1';
  return {
    apiVersion: `${widgetApi.group}/${version}`,
    kind: 'Widget',
    metadata: { name, namespace },
    spec: replicas === undefined ? { size } : { replicas },
  };
}

/** Asks every webhook of the operator, in both versions. */
export const widgetsComeAndGo: Step = async (caller, turn) => {
  const name = `widget-${turn}`;
  const path = (version: string) =>
    `/apis/${widgetApi.group}/${version}/namespaces/default/${widgetApi.plural}`;
  const one = (version: string) => `${path(version)}/${name}`;
  return await firstFailure(caller, [
    [{ method: 'POST', path: path('v1alpha1'), body: aWidget({ name, size: 3 }) }, 201, '"size":3'],
    [{ method: 'GET', path: one('v1') }, 200, '"color":"blue","replicas":3'],
    [{ method: 'PATCH', path: one('v1'), body: { spec: { replicas: 4 } } }, 200, '"replicas":4'],
    [{ method: 'PATCH', path: one('v1'), body: { spec: { replicas: 11 } } }, 403, 'at most 10'],
    [{ method: 'GET', path: one('v1alpha1') }, 200, '"size":4'],
    [{ method: 'GET', path: path('v1alpha1') }, 200, '"size":4'],
    [{ method: 'DELETE', path: one('v1alpha1') }, 200, ''],
  ]);
};

/** Asks the API that the operator serves. */
export const gaugesAreServed: Step = async (caller) => {
  const { group, version, plural } = gaugeApi;
  const root = `/apis/${group}/${version}`;
  return await firstFailure(caller, [
    [{ method: 'GET', path: root }, 200, '"APIResourceList"'],
    [{ method: 'GET', path: `${root}/${plural}` }, 200, '"value":42'],
  ]);
};

type Expected = readonly [request: ApiRequest, code: number, part: string];

async function firstFailure(
  caller: ApiCaller,
  all: readonly Expected[],
): Promise<string | undefined> {
  for (const [request, code, part] of all) {
    const answer = await caller.send(request);
    if (answer.code !== code || !answer.body.includes(part)) return described(request, answer);
  }
  return undefined;
}

function described({ method, path }: ApiRequest, { code, body }: ApiAnswer): string {
  return `${method} ${path} was answered ${code}: ${body}`;
}
