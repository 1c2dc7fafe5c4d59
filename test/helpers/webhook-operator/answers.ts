import { gaugeApi, widgetApi } from './apis.ts';

export interface Answer {
  readonly code: number;
  readonly value: unknown;
}

/** Most replicas that a version of the operator admits, by the path of its webhook. */
const limits: Readonly<Record<string, number>> = { '/validate': 10, '/validate-v2': 5 };

/** What the operator answers at a path: its webhooks are asked by POST, its API by GET. */
export function answer(url: string, body: string): Answer {
  const [path = ''] = url.split('?');
  const limit = limits[path];
  if (limit !== undefined) return admission(body, (widget) => validated(widget, limit));
  if (path === '/mutate') return admission(body, mutated);
  if (path === '/convert') return conversion(body);
  return { ...api(path) };
}

interface Widget {
  readonly apiVersion: string;
  readonly spec?: Readonly<Record<string, unknown>>;
}

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: {
    readonly uid: string;
    readonly object: Widget;
    readonly objects: readonly Widget[];
    readonly desiredAPIVersion: string;
  };
}

function admission(body: string, judge: (widget: Widget) => object): Answer {
  const { apiVersion, kind, request } = JSON.parse(body) as Review;
  const response = { uid: request.uid, ...judge(request.object) };
  return { code: 200, value: { apiVersion, kind, response } };
}

function validated({ spec }: Widget, limit: number): object {
  if (Number(spec?.['replicas'] ?? 0) <= limit) return { allowed: true };
  return { allowed: false, status: { code: 403, message: `at most ${limit} replicas` } };
}

function mutated({ spec }: Widget): object {
  if (spec?.['color'] !== undefined) return { allowed: true };
  const patch = [{ op: 'add', path: '/spec/color', value: 'blue' }];
  return {
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
  };
}

function conversion(body: string): Answer {
  const { apiVersion, kind, request } = JSON.parse(body) as Review;
  const { uid, objects, desiredAPIVersion } = request;
  const convertedObjects = objects.map((widget) => converted(widget, desiredAPIVersion));
  const response = { uid, result: { status: 'Success' }, convertedObjects };
  return { code: 200, value: { apiVersion, kind, response } };
}

/** What v1 calls replicas is size in v1alpha1. */
function converted({ spec = {}, ...widget }: Widget, apiVersion: string): Widget {
  const { size, replicas = size, ...rest } = spec;
  const count = apiVersion === `${widgetApi.group}/v1` ? { replicas } : { size: replicas };
  return { ...widget, apiVersion, spec: { ...rest, ...count } };
}

function api(path: string): Answer {
  const { group, version, kind, plural } = gaugeApi;
  const groupVersion = `${group}/${version}`;
  const root = `/apis/${groupVersion}`;
  if (path === root) {
    const resource = { name: plural, singularName: '', namespaced: false, kind, verbs: ['list'] };
    const value = {
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion,
      resources: [resource],
    };
    return { code: 200, value };
  }
  if (path === `${root}/${plural}`) {
    const items = [{ metadata: { name: 'pressure' }, value: 42 }];
    return {
      code: 200,
      value: { kind: `${kind}List`, apiVersion: groupVersion, metadata: {}, items },
    };
  }
  const message = `there is nothing at ${path}`;
  return {
    code: 404,
    value: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404, message },
  };
}
