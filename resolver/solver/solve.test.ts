import { deepStrictEqual, throws } from 'node:assert';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Budget, BudgetError } from '../budget.ts';
import { type Constraint, type Solution, solve, type Variable } from './index.ts';

const mandatory: Constraint = { kind: 'mandatory' };
const prohibited: Constraint = { kind: 'prohibited' };

function dependency(...ids: string[]): Constraint {
  return { kind: 'dependency', ids };
}

function conflict(id: string): Constraint {
  return { kind: 'conflict', id };
}

function atMost(count: number, ...ids: string[]): Constraint {
  return { kind: 'at-most', count, ids };
}

function variable(id: string, ...constraints: Constraint[]): Variable {
  return { id, constraints };
}

function selected(...variables: Variable[]): readonly string[] {
  const solution = solve(variables);
  if (solution.kind === 'unsatisfiable') throw new Error(JSON.stringify(solution.conflicts));
  return [...solution.selected].sort();
}

function conflicts(...variables: Variable[]): readonly string[] {
  const solution = solve(variables);
  if (solution.kind === 'satisfied') throw new Error([...solution.selected].join(' '));
  return solution.conflicts.map(({ id, constraint }) => `${id} ${constraint.kind}`);
}

test('nothing is selected that nothing asks for', () => {
  deepStrictEqual(selected(variable('a'), variable('b', dependency('a'))), []);
  deepStrictEqual(selected(), []);
});

test('the first candidate of a dependency is preferred', () => {
  const candidates = [variable('b'), variable('c')];
  deepStrictEqual(selected(variable('a', mandatory, dependency('c', 'b')), ...candidates), [
    'a',
    'c',
  ]);
});

test('a dependency that a selected candidate meets selects nothing more', () => {
  deepStrictEqual(
    selected(
      variable('a', mandatory, dependency('c'), dependency('b', 'c')),
      variable('b'),
      variable('c'),
    ),
    ['a', 'c'],
  );
});

test('a candidate that is implied, and not yet selected, does not meet a dependency before its turn', () => {
  const variables = [
    variable('a', mandatory, dependency('b', 'c'), dependency('c')),
    variable('b'),
    variable('c'),
  ];
  deepStrictEqual(selected(...variables), ['a', 'b', 'c']);
});

test('the next candidate is taken where the first one leads to a conflict, however deep', () => {
  deepStrictEqual(
    selected(
      variable('a', mandatory, dependency('b', 'c')),
      variable('b', dependency('d')),
      variable('c'),
      variable('d', dependency('e')),
      variable('e', prohibited),
    ),
    ['a', 'c'],
  );
});

test('dependencies of equals compete in the order of ids', () => {
  const variables = [
    variable('z', mandatory, dependency('x', 'y')),
    variable('a', mandatory, dependency('y', 'x')),
    variable('x', conflict('y')),
    variable('y'),
  ];
  deepStrictEqual(selected(...variables), ['a', 'y', 'z']);
  deepStrictEqual(selected(...variables.toReversed()), ['a', 'y', 'z']);
});

test('at most as many are selected as is allowed; who is listed twice counts twice', () => {
  const three = [variable('a', mandatory), variable('b', mandatory), variable('c', mandatory)];
  deepStrictEqual(selected(...three, variable('limit', atMost(3, 'a', 'b', 'c'))), ['a', 'b', 'c']);
  deepStrictEqual(conflicts(...three, variable('limit', atMost(2, 'a', 'b', 'c'))), [
    'a mandatory',
    'b mandatory',
    'c mandatory',
    'limit at-most',
  ]);
  deepStrictEqual(conflicts(variable('a', mandatory), variable('limit', atMost(1, 'a', 'a'))), [
    'a mandatory',
    'limit at-most',
  ]);
});

test('conflicts are those without any one of which the rest can hold', () => {
  deepStrictEqual(
    conflicts(
      variable('a', mandatory, dependency('b', 'c')),
      variable('b', conflict('d')),
      variable('c', dependency()),
      variable('d', mandatory),
      variable('e', mandatory, dependency('a')),
    ),
    ['a mandatory', 'c dependency', 'd mandatory', 'a dependency', 'b conflict'],
  );
});

test('of constraints that say the same the last one is named', () => {
  const solution = solve([
    variable('a', mandatory, { ...conflict('b'), text: 'a conflicts with b' }),
    variable('b', mandatory),
    variable('c', { ...atMost(1, 'b', 'a'), text: 'a and b are of one package' }),
  ]);
  expect(solution).toMatchObject({
    conflicts: [{ id: 'a' }, { id: 'b' }, { constraint: { text: 'a and b are of one package' } }],
  });
});

test('ids that are no variables, or those of two, are errors of the caller', () => {
  throws(() => solve([variable('a', dependency('b'))]), {
    message: 'variable "b" is referenced by "a" but not provided',
  });
  throws(() => solve([variable('a'), variable('a')]), {
    message: 'duplicate identifier "a" in input',
  });
});

/** `count` pigeons for one hole less. */
function pigeonhole(count: number): readonly Variable[] {
  const numbers = Array.from({ length: count }, (_, number) => number);
  const holes = numbers.slice(1);
  const place = (pigeon: number, hole: number) => `${pigeon} in ${hole}`;
  return [
    ...numbers.map((pigeon) =>
      variable(
        `pigeon ${pigeon}`,
        mandatory,
        dependency(...holes.map((hole) => place(pigeon, hole))),
      ),
    ),
    ...numbers.flatMap((pigeon) => holes.map((hole) => variable(place(pigeon, hole)))),
    ...holes.map((hole) =>
      variable(`hole ${hole}`, atMost(1, ...numbers.map((pigeon) => place(pigeon, hole)))),
    ),
  ];
}

test('a problem that takes too long is given up after a number of steps', () => {
  expect(() => solve(pigeonhole(12), new Budget({ steps: 300_000 }))).toThrow(BudgetError);
  expect(() => solve(pigeonhole(12), new Budget({ steps: 300_000 }))).toThrow(
    'the resolution takes more than 300000 steps',
  );
  expect(solve(pigeonhole(6)).kind).toBe('unsatisfiable');
});

test('thirty constraints that exclude one another are all named', () => {
  const ids = Array.from({ length: 28 }, (_, number) => `link ${number}`);
  const chain = ids.map((id, at) => variable(id, dependency(ids[at + 1] ?? 'end')));
  const others = ids.flatMap((id) => [
    variable(`other ${id}`),
    variable(`limit ${id}`, atMost(1, id)),
  ]);
  const start = variable('start', mandatory, dependency('link 0'));
  const end = variable('end', prohibited);
  deepStrictEqual(conflicts(start, ...chain, ...others, end).length, 1 + 1 + 28 + 1);
});

const names = ['a', 'b', 'c', 'd', 'e', 'f'];
const anyName = fc.constantFrom(...names);
const anyConstraint: fc.Arbitrary<Constraint> = fc.oneof(
  fc.constant(mandatory),
  fc.constant(prohibited),
  fc.array(anyName, { maxLength: 4 }).map((ids) => dependency(...ids)),
  fc.array(anyName, { minLength: 1, maxLength: 4 }).map((ids) => dependency(...ids)),
  anyName.map(conflict),
  fc
    .tuple(fc.nat({ max: 2 }), fc.array(anyName, { maxLength: 5 }))
    .map(([count, ids]) => atMost(count, ...ids)),
);
const anyProblem = fc
  .tuple(...names.map(() => fc.array(anyConstraint, { maxLength: 3 })))
  .map((lists) => lists.map((constraints, at) => variable(names[at] ?? '', ...constraints)));

test('the answer is the first one by preference, or a minimal core', () => {
  fc.assert(
    fc.property(anyProblem, (problem) => {
      const solution = solve(problem);
      const expected = firstByPreference(problem);
      if (solution.kind === 'satisfied')
        deepStrictEqual([...solution.selected].sort(), expected?.toSorted());
      else {
        deepStrictEqual(expected, undefined);
        expectMinimal(solution.conflicts);
      }
    }),
    { numRuns: 2_000 },
  );
});

test('the order of variables does not change the answer', () => {
  fc.assert(
    fc.property(
      anyProblem.chain((problem) =>
        fc.tuple(
          fc.constant(problem),
          fc.shuffledSubarray([...problem], { minLength: problem.length }),
        ),
      ),
      ([problem, shuffled]) => {
        deepStrictEqual(answerOf(shuffled), answerOf(problem));
      },
    ),
    { numRuns: 500 },
  );
});

function answerOf(problem: readonly Variable[]): unknown {
  const solution: Solution = solve(problem);
  return solution.kind === 'satisfied' ? [...solution.selected] : solution.conflicts;
}

type Applied = Extract<Solution, { readonly kind: 'unsatisfiable' }>['conflicts'];

function expectMinimal(core: Applied): void {
  expect(isSatisfiable(core)).toBe(false);
  for (const left of core) expect(isSatisfiable(core.filter((each) => each !== left))).toBe(true);
}

function isSatisfiable(constraints: Applied, given: readonly string[] = []): boolean {
  for (let set = 0; set < 2 ** names.length; set += 1) {
    const isSelected = (id: string) => (set & (1 << names.indexOf(id))) !== 0;
    if (given.every(isSelected) && constraints.every((each) => holds(each, isSelected)))
      return true;
  }
  return false;
}

function holds({ id, constraint }: Applied[number], isSelected: (id: string) => boolean): boolean {
  switch (constraint.kind) {
    case 'mandatory':
      return isSelected(id);
    case 'prohibited':
      return !isSelected(id);
    case 'dependency':
      return !isSelected(id) || constraint.ids.some(isSelected);
    case 'conflict':
      return !isSelected(id) || !isSelected(constraint.id);
    default:
      return constraint.ids.filter(isSelected).length <= constraint.count;
  }
}

/** Tries every way through the choices in the order of preference, as OLM's search does. */
function firstByPreference(problem: readonly Variable[]): readonly string[] | undefined {
  const applied = problem.flatMap(({ id, constraints }) =>
    constraints.map((constraint) => ({ id, constraint })),
  );
  const anchors = problem.filter(({ constraints }) => constraints.includes(mandatory));
  const choicesOf = (id: string) =>
    applied.flatMap((each) =>
      each.id === id && each.constraint.kind === 'dependency' ? [each.constraint.ids] : [],
    );
  const walk = (
    choices: readonly (readonly string[])[],
    guesses: readonly string[],
  ): readonly string[] | undefined => {
    const [choice, ...rest] = choices;
    if (choice === undefined) return isSatisfiable(applied, guesses) ? guesses : undefined;
    if (choice.length === 0 || choice.some((id) => guesses.includes(id)))
      return walk(rest, guesses);
    for (const id of choice) {
      const found = walk([...rest, ...choicesOf(id)], [...guesses, id]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return walk(
    anchors.map(({ id }) => [id]),
    [],
  );
}
