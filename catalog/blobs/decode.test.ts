import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../api/json.ts';
import {
  blobOfValue,
  decodeBundle,
  decodeChannel,
  decodeDeprecations,
  decodePackage,
} from './index.ts';

function bundle(value?: JsonObject): JsonObject {
  const property = { type: 'olm.bundle.object', ...(value !== undefined && { value }) };
  return { schema: 'olm.bundle', name: 'a', package: 'p', properties: [property] };
}

function data(text: string): JsonObject {
  return { data: Buffer.from(text).toString('base64') };
}

describe('a typed blob', () => {
  test('has fields in any case, and empty ones for what is absent', () => {
    const entries = [{ Name: 'a', REPLACES: 'b', Skiprange: '<1' }, null, { skips: [null] }];
    const blob = blobOfValue({ schema: 'olm.channel', NAME: 'c', package: 'p', entries });
    expect(decodeChannel(blob)).toEqual({
      schema: 'olm.channel',
      name: 'c',
      package: 'p',
      entries: [
        { name: 'a', replaces: 'b', skips: [], skipRange: '<1' },
        { name: '', replaces: '', skips: [], skipRange: '' },
        { name: '', replaces: '', skips: [''], skipRange: '' },
      ],
      properties: [],
    });
  });

  test('tells a property whose value is null from one that has none', () => {
    const properties = [{ type: 'a', value: null }, { type: 'b' }];
    const decoded = decodePackage(blobOfValue({ schema: 'olm.package', name: 'p', properties }));
    expect(decoded.properties.map((each) => each.value)).toEqual([null, undefined]);
  });

  test.each<[JsonObject, string]>([
    [
      { entries: [{ name: 1 }] },
      'number into Go struct field ChannelEntry.entries.name of type string',
    ],
    [{ entries: [1] }, 'number into Go struct field Channel.entries of type declcfg.ChannelEntry'],
    [{ entries: 3 }, 'number into Go struct field Channel.entries of type []declcfg.ChannelEntry'],
    [
      { properties: [{ type: 1 }] },
      'number into Go struct field Property.properties.type of type string',
    ],
  ])('%j of a channel is refused', (fields, problem) => {
    const blob = blobOfValue({ schema: 'olm.channel', ...fields });
    expect(() => decodeChannel(blob)).toThrow(`parse channel: json: cannot unmarshal ${problem}`);
  });

  test.each([
    ['YWJ', 'illegal base64 data at input byte 0'],
    ['YW!J', 'illegal base64 data at input byte 2'],
    ['YW=j', 'illegal base64 data at input byte 2'],
  ])('icon %j is refused', (base64data, problem) => {
    const blob = blobOfValue({ schema: 'olm.package', icon: { base64data } });
    expect(() => decodePackage(blob)).toThrow(`parse package: ${problem}`);
  });

  test('of several fields that are wrong names the first by key', () => {
    const blob = blobOfValue({ schema: 'olm.package', description: [], defaultChannel: 1 });
    expect(() => decodePackage(blob)).toThrow(
      'parse package: json: cannot unmarshal number into Go struct field Package.defaultChannel of type string',
    );
  });

  test('of deprecations names the struct that is wrong', () => {
    const blob = blobOfValue({ schema: 'olm.deprecations', entries: [{ reference: { name: 3 } }] });
    expect(() => decodeDeprecations(blob)).toThrow(
      'parse deprecation: json: cannot unmarshal number into Go struct field PackageScopedReference.entries.reference.name of type string',
    );
  });

  test.each<[JsonObject | undefined, string]>([
    [undefined, 'parse property at index 0 as bundle object: unexpected end of JSON input'],
    [
      { data: 'ey' },
      'parse property at index 0 as bundle object: illegal base64 data at input byte 0',
    ],
    [data('a: b: c'), 'convert bundle object property at index 0 to JSON: yaml:'],
  ])('bundle object %j is refused', (value, problem) => {
    const blob = blobOfValue(bundle(value));
    expect(() => decodeBundle(blob)).toThrow(
      `read bundle objects: package "p", bundle "a": ${problem}`,
    );
  });
});
