; x / d and x % d of words of 32 bits, as ptxas computes them where d is not known: every line but the comments is what src/execution/terms/division.hpp
; has, over all x and d at once. The answers of a solver of integers, here Z3, must be those behind `answer`.
; Each lemma is asked as "is there an exception?"; a control is the same without what makes it true, and has one.
;
; Of the first estimate e of 2^32 / d one of two things holds, for every d but 0 and each reciprocal that MUFU.RCP may give
; (Division.EveryEstimateIsNear, all floats):
;   near   d e <= 2^32, and u = 2^32 - d e has u^2 <= 2^32 d
;   none   e = 0 and d >= 2^31
(set-option :smt.random_seed 0)
(define-fun word ((x Int)) Bool (and (<= 0 x) (< x 4294967296)))
(define-fun near ((d Int) (e Int)) Bool
  (let ((u (- 4294967296 (* d e)))) (and (<= 0 u) (<= (* u u) (* d 4294967296)))))
(define-fun none ((d Int) (e Int)) Bool (and (= e 0) (>= d 2147483648)))
(define-fun reciprocal ((d Int) (r Int)) Bool (and (<= (* r d) 4294967296) (> (* (+ r 2) d) 4294967296)))

; 1. -e * d modulo 2^32 is u, where d e is neither 0 nor above 2^32. p is d e.
(push)
(declare-const p (_ BitVec 64))
(assert (and (bvult #x0000000000000000 p) (bvule p #x0000000100000000)))
(assert (not (= (concat #x00000000 ((_ extract 31 0) (bvneg p))) (bvsub #x0000000100000000 p))))
(check-sat) ; answer: unsat
(pop)
(push) ; control: d e may be 0
(declare-const p (_ BitVec 64))
(assert (bvule p #x0000000100000000))
(assert (not (= (concat #x00000000 ((_ extract 31 0) (bvneg p))) (bvsub #x0000000100000000 p))))
(check-sat) ; answer: sat
(pop)

; 2. Newton's step: r = e + (e u) / 2^32 is a word, and 2^32 / d or one less.
(push)
(declare-const d Int) (declare-const e Int) (declare-const r Int) (declare-const low Int)
(assert (and (word d) (> d 0) (word e) (word low)))
(assert (near d e))
(assert (= (* e (- 4294967296 (* d e))) (+ (* 4294967296 (- r e)) low)))
(assert (not (and (reciprocal d r) (<= 0 r) (< r 4294967296))))
(check-sat) ; answer: unsat
(pop)
(push) ; control: the estimate may be twice as far
(declare-const d Int) (declare-const e Int) (declare-const r Int) (declare-const low Int)
(assert (and (word d) (= d 3) (word e) (word low)))
(assert (let ((u (- 4294967296 (* d e)))) (and (<= 0 u) (<= (* u u) (* 4 d 4294967296)))))
(assert (= (* e (- 4294967296 (* d e))) (+ (* 4294967296 (- r e)) low)))
(assert (not (reciprocal d r)))
(check-sat) ; answer: sat
(pop)

; 3. q = (r x) / 2^32 is x / d or up to two less: 0 <= x - q d < 3 d. Where e is 0, r and q are, and d >= 2^31.
(push)
(declare-const x Int) (declare-const d Int) (declare-const r Int) (declare-const q Int) (declare-const low Int)
(assert (and (word x) (word d) (> d 0) (word r) (word low)))
(assert (reciprocal d r))
(assert (= (* x r) (+ (* 4294967296 q) low)))
(assert (not (and (<= (* q d) x) (< x (+ (* q d) (* 3 d))))))
(check-sat) ; answer: unsat
(pop)
(push)
(declare-const x Int) (declare-const d Int)
(assert (and (word x) (word d) (none d 0)))
(assert (not (< x (* 3 d))))
(check-sat) ; answer: unsat
(pop)
(push) ; control: up to one less
(declare-const x Int) (declare-const d Int) (declare-const r Int) (declare-const q Int) (declare-const low Int)
(assert (and (word x) (word d) (= d 3) (word r) (word low)))
(assert (reciprocal d r))
(assert (= (* x r) (+ (* 4294967296 q) low)))
(assert (not (and (<= (* q d) x) (< x (+ (* q d) (* 2 d))))))
(check-sat) ; answer: sat
(pop)

; 4. Two corrections make of t = x - q d the remainder: it is below d, and x - t is d times q and the corrections. p is q d.
(push)
(declare-const x Int) (declare-const d Int) (declare-const p Int)
(define-fun t0 () Int (- x p))
(define-fun t1 () Int (ite (>= t0 d) (- t0 d) t0))
(define-fun t2 () Int (ite (>= t1 d) (- t1 d) t1))
(define-fun more () Int (+ (ite (>= t0 d) 1 0) (ite (>= t1 d) 1 0)))
(assert (and (word x) (word d) (> d 0) (<= 0 p) (<= p x) (< t0 (* 3 d))))
(assert (not (and (<= 0 t2) (< t2 d) (= x (+ p (* more d) t2)))))
(check-sat) ; answer: unsat
(pop)
(push) ; control: one correction
(declare-const x Int) (declare-const d Int) (declare-const p Int)
(define-fun t0 () Int (- x p))
(define-fun t1 () Int (ite (>= t0 d) (- t0 d) t0))
(assert (and (word x) (word d) (> d 0) (<= 0 p) (<= p x) (< t0 (* 3 d))))
(assert (not (and (<= 0 t1) (< t1 d))))
(check-sat) ; answer: sat
(pop)
